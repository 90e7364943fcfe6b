import { availableParallelism } from 'node:os';

/** Prints the medians in milliseconds, each with the share of the yardstick's speed that it reaches. */
export function printTable(title: string, medians: ReadonlyMap<string, number>, yardstick: string): void {
  const width = Math.max(...[...medians.keys()].map((name) => name.length));
  console.log(`\n${title}\n${'-'.repeat(title.length)}`);
  for (const [name, ms] of medians) {
    const share = (medians.get(yardstick) as number) / ms;
    console.log(`${name.padEnd(width)}  ${ms.toFixed(3).padStart(9)} ms  ${share.toFixed(2).padStart(5)} x`);
  }
}

/** The one line that a machine reads. */
export function printJson(name: string, medians: ReadonlyMap<string, number>, ratio: number): void {
  const round = (n: number) => Number(n.toPrecision(4));
  const rounded = Object.fromEntries([...medians].map(([key, ms]) => [key, round(ms)]));
  const machine = { cores: availableParallelism(), node: process.version };
  console.log(`\n${JSON.stringify({ name, medians: rounded, ratio: round(ratio), ...machine })}`);
}
