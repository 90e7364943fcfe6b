import { parseArgs } from 'node:util';
import { counterexamples } from './cases/counterexamples.ts';
import { type RandomCase, runSeed } from './cases/random-case.ts';
import { plainAt49, randomCases } from './cases/random-cases.ts';
import { type SmallCase, smallRun } from './cases/small-case.ts';
import { smallCases } from './cases/small-cases.ts';
import { FOLD_CASES, type FoldCase } from './fold/fold-plan.ts';
import { runFoldSeeds } from './fold/fold-seeds.ts';
import { runFold } from './fold/run-fold.ts';
import { INGEST_CASES, type IngestCase, runIngest } from './ingest/run.ts';
import { runIngestSeeds } from './ingest/seeds.ts';
import { type Failure, runSeeds, runSmall } from './run-set.ts';
import { replay } from './scheduler/explore.ts';

const small: readonly SmallCase[] = [...smallCases, ...counterexamples.flatMap(({ wrong, right }) => [wrong, right])];
const random: readonly RandomCase[] = [...randomCases, plainAt49];
/** Broken on purpose: they run only when they are asked for by name. */
const broken = new Set<string>([plainAt49.name, ...counterexamples.map(({ wrong }) => wrong.name)]);

const column = (cases: readonly { readonly name: string; readonly about: string }[]) =>
  cases.map(({ name, about }) => `  ${name.padEnd(22)} ${about}${broken.has(name) ? ' (breaks)' : ''}`).join('\n');

const help = `Runs the relay's DynamoDB store on a simulated DynamoDB that promises what AWS documents and no more, ingest on stores that lose calls and answers, and fold workers on a simulated DynamoDB Streams.

usage: npm run sim -- [--seeds N] [--seed S] [--case NAME]... [--schedules N] [--trace LINES] [--path CHOICES]

  --seeds N       seeds of each random case (default 20)
  --seed S        the first seed (default 1); with --trace: this seed alone
  --case NAME     this case alone; may be given again; the beginning of a name stands for all that begin so
  --schedules N   schedules of each small case at most (default 20000)
  --trace LINES   prints the last events of each run
  --path CHOICES  one schedule of a small case, as a failure names it

Random cases, one run per seed:
${column(random)}
${column(INGEST_CASES)}
${column(FOLD_CASES)}

Small cases, every schedule:
${column(small)}
`;

interface Totals {
  schedules: number;
  readonly failures: Failure[];
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      help: { type: 'boolean', short: 'h' },
      seeds: { type: 'string' },
      seed: { type: 'string' },
      case: { type: 'string', multiple: true },
      schedules: { type: 'string' },
      trace: { type: 'string' },
      path: { type: 'string' },
    },
  });
  if (values.help) return say(help);
  const isAsked = asked(values.case);
  const chosen = {
    small: small.filter(isAsked),
    random: random.filter(isAsked),
    ingest: INGEST_CASES.filter(isAsked),
    fold: FOLD_CASES.filter(isAsked),
  };
  if (Object.values(chosen).every((cases) => cases.length === 0)) {
    say(`no case is named ${values.case?.join(', ')}\n\n${help}`);
    process.exitCode = 2;
    return;
  }
  if (values.path !== undefined) return showPath(chosen.small, values.path.split(',').map(Number));
  const from = whole(values.seed, 1);
  const lines = whole(values.trace, 0);
  if (lines > 0) return showSeed(chosen, from, lines);
  const totals: Totals = { schedules: 0, failures: [] };
  await exploreAll(chosen.small, whole(values.schedules, 20_000), totals);
  const count = whole(values.seeds, values.seed === undefined ? 20 : 1);
  await seedAll(chosen.random, from, count, totals);
  await ingestAll(chosen.ingest, from, count, totals);
  await foldAll(chosen.fold, from, count, totals);
  for (const { what, replay: command } of totals.failures.slice(0, 50)) say(`VIOLATION ${what}\n  ${command}`);
  say(`${totals.schedules} schedules and runs, ${totals.failures.length} violations`);
  process.exitCode = totals.failures.length === 0 ? 0 : 1;
}

function asked(names: readonly string[] | undefined) {
  if (names === undefined) return ({ name }: { readonly name: string }) => !broken.has(name);
  const exact = new Set([...small, ...random, ...INGEST_CASES, ...FOLD_CASES].map(({ name }) => name));
  return ({ name }: { readonly name: string }) =>
    names.some((one) => (exact.has(one) ? name === one : name.startsWith(one)));
}

async function exploreAll(cases: readonly SmallCase[], schedulesMax: number, totals: Totals): Promise<void> {
  for (const one of cases) {
    const { schedules, states, exhausted, failures } = await runSmall(one, { schedulesMax, stepsMax: STEPS_MAX });
    totals.schedules += schedules;
    totals.failures.push(...failures);
    const end = failures.length > 0 ? 'VIOLATED' : exhausted ? 'all of them' : 'the bound was reached';
    say(`${one.name.padEnd(22)} ${schedules} schedules, ${states} states: ${end}`);
  }
}

const STEPS_MAX = 1000;

async function seedAll(cases: readonly RandomCase[], from: number, count: number, totals: Totals): Promise<void> {
  const seeds = Array.from({ length: count }, (_, i) => from + i);
  for (const one of cases) {
    let runs = 0;
    const result = await runSeeds([one], seeds, {
      onRun: () => {
        if (++runs % 50 === 0) say(`${one.name.padEnd(22)} ${runs} of ${count} seeds`);
      },
    });
    totals.schedules += result.runs;
    totals.failures.push(...result.failures);
    const injected = Object.entries(result.anomalies).map(([name, n]) => `${name} ${n}`);
    say(
      `${one.name.padEnd(22)} ${result.runs} seeds, ${result.steps} events, ${result.ops} ops, ${result.failures.length} violations`,
    );
    say(`${' '.repeat(22)} ${injected.join(', ')}`);
  }
}

async function ingestAll(cases: readonly IngestCase[], from: number, count: number, totals: Totals): Promise<void> {
  const seeds = Array.from({ length: count }, (_, i) => from + i);
  for (const one of cases) {
    let runs = 0;
    const onRun = () => {
      if (++runs % 50 === 0) say(`${one.name.padEnd(22)} ${runs} of ${count} seeds`);
    };
    const result = await runIngestSeeds(one, seeds, { onRun });
    totals.schedules += result.runs;
    totals.failures.push(...result.failures);
    const injected = Object.entries(result.anomalies).map(([name, n]) => `${name} ${n}`);
    say(`${one.name.padEnd(22)} ${result.runs} seeds, ${result.events} events, ${result.failures.length} violations`);
    say(`${' '.repeat(22)} ${injected.join(', ')}`);
  }
}

async function foldAll(cases: readonly FoldCase[], from: number, count: number, totals: Totals): Promise<void> {
  const seeds = Array.from({ length: count }, (_, i) => from + i);
  for (const one of cases) {
    let runs = 0;
    const onRun = () => {
      if (++runs % 50 === 0) say(`${one.name.padEnd(22)} ${runs} of ${count} seeds`);
    };
    const { failures, ...result } = await runFoldSeeds(one, seeds, { twice: true, onRun });
    totals.schedules += result.runs;
    totals.failures.push(...failures);
    const injected = Object.entries(result.anomalies).map(([name, n]) => `${name} ${n}`);
    say(
      `${one.name.padEnd(22)} ${result.runs} seeds, twice, ${result.events} events, ${result.ops} ops, ${failures.length} violations`,
    );
    say(`${' '.repeat(22)} ${injected.join(', ')}`);
  }
}

async function showPath(cases: readonly SmallCase[], path: readonly number[]): Promise<void> {
  for (const one of cases) {
    const { trace, violations } = await replay((choices, lines) => smallRun(one, choices, lines), path);
    say([...trace, ...violations].join('\n'));
    if (violations.length > 0) process.exitCode = 1;
  }
}

interface Chosen {
  readonly random: readonly RandomCase[];
  readonly ingest: readonly IngestCase[];
  readonly fold: readonly FoldCase[];
}

async function showSeed({ random: cases, ingest, fold }: Chosen, seed: number, traceLines: number): Promise<void> {
  for (const one of fold) {
    const { trace, violations, hash } = await runFold(one, seed, { traceLines });
    say(trace.join('\n'));
    say(`${one.name}, seed ${seed}, trace ${hash}: ${violations.join('\n') || 'no violation'}`);
    if (violations.length > 0) process.exitCode = 1;
  }
  for (const one of ingest) {
    const { trace, violations, traceHash } = await runIngest(one, seed, { keep: traceLines });
    say(trace.join('\n'));
    say(`${one.name}, seed ${seed}, trace ${traceHash}: ${violations.join('\n') || 'no violation'}`);
    if (violations.length > 0) process.exitCode = 1;
  }
  for (const one of cases) {
    const { trace, violations, hash } = await runSeed(one, seed, { traceLines });
    say(trace.join('\n'));
    say(`${one.name}, seed ${seed}, trace ${hash}: ${violations.join('\n') || 'no violation'}`);
    if (violations.length > 0) process.exitCode = 1;
  }
}

function whole(text: string | undefined, otherwise: number): number {
  if (text === undefined) return otherwise;
  if (!/^\d{1,9}$/.test(text)) throw new Error(`${text} is no whole number`);
  return Number(text);
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

await main();
