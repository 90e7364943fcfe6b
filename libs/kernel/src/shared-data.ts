import { existsSync } from 'node:fs';
import { resolve } from 'node:path';

/**
 * Absolute path of a file or folder of the shared test data, for tests only: in the folder that TIDEMARK_SHARED_DATA names, else in
 * one beside the repository. Null when it is absent, after one loud line; a failure instead where TIDEMARK_REQUIRE_DATA=1. A caller without
 * its data skips: `const file = sharedData('x.json'); (file === null ? test.skip : test)(...)`.
 */
export function sharedData(name: string): string | null {
  // This file stands three folders below the repository's root.
  const folder = process.env.TIDEMARK_SHARED_DATA ?? resolve(import.meta.dirname, '../../../../shared/data');
  const path = resolve(folder, name);
  if (existsSync(path)) return path;
  const absent = `shared test data is absent: ${name} (TIDEMARK_SHARED_DATA names its folder)`;
  if (process.env.TIDEMARK_REQUIRE_DATA === '1') throw new Error(absent);
  process.stderr.write(`\n*** SKIPPED: ${absent} ***\n\n`);
  return null;
}
