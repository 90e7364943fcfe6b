import { readFileSync } from 'node:fs';
import path from 'node:path';
import { root } from './paths.mjs';
import { say } from './terminal.mjs';

const floorFile = path.join(root, 'tools', 'launcher', 'coverage-floor.json');

/**
 * Prints line coverage per package beside the committed floor; returns one problem for each that is below it, or has none.
 * The floor rises by hand, when a package has more tests.
 */
export function compareCoverage() {
  const floor = JSON.parse(readFileSync(floorFile, 'utf8'));
  const measured = perPackage(JSON.parse(readFileSync(path.join(root, 'coverage', 'coverage-summary.json'), 'utf8')));
  const names = [...new Set([...Object.keys(floor), ...measured.keys()])].sort();
  const width = Math.max(...names.map((name) => name.length));
  say('line coverage, % (floor)');
  return names.flatMap((name) => {
    const percent = measured.get(name) ?? 0;
    const least = floor[name];
    say(`  ${name.padEnd(width)} ${percent.toFixed(1).padStart(6)} (${least ?? 'none committed'})`);
    if (least === undefined) return [`coverage: ${name} has no floor in tools/launcher/coverage-floor.json`];
    return percent < least ? [`coverage: ${name} has ${percent.toFixed(1)} %, the floor is ${least} %`] : [];
  });
}

function perPackage(summary) {
  const lines = new Map();
  for (const [file, entry] of Object.entries(summary)) {
    if (file === 'total') continue;
    const name = path.relative(root, file).split(`${path.sep}src${path.sep}`)[0];
    const sum = lines.get(name) ?? { covered: 0, total: 0 };
    lines.set(name, { covered: sum.covered + entry.lines.covered, total: sum.total + entry.lines.total });
  }
  return new Map([...lines].map(([name, { covered, total }]) => [name, total === 0 ? 100 : (100 * covered) / total]));
}
