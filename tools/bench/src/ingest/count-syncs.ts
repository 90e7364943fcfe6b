import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

export interface Syncs {
  readonly dedupe: number;
  readonly queue: number;
}

/** Runs the script with one and with two batches under strace; the difference is what one batch syncs. null: there is no strace. */
export function syncsOfBatch(script: string, records: number): Syncs | null {
  const [one, two] = [1, 2].map((batches) => syncsOf(script, [String(records), String(batches)]));
  if (one == null || two == null) return null;
  return { dedupe: two.dedupe - one.dedupe, queue: two.queue - one.queue };
}

function syncsOf(script: string, args: readonly string[]): Syncs | null {
  const folder = mkdtempSync(path.join(tmpdir(), 'tidemark-strace-'));
  const log = path.join(folder, 'syncs');
  try {
    const traced = ['-f', '-y', '-e', 'trace=fsync,fdatasync', '-o', log, process.execPath, script, ...args];
    const { error, status, stderr } = spawnSync('strace', traced, { encoding: 'utf8' });
    if (error !== undefined) return null;
    if (status !== 0) throw new Error(stderr);
    const lines = readFileSync(log, 'utf8').split('\n');
    const calls = lines.filter((line) => /f(data)?sync\(\d+</.test(line));
    const count = (part: string) => calls.filter((line) => line.includes(part)).length;
    return { dedupe: count('/dedupe/'), queue: count('/queue/') };
  } finally {
    rmSync(folder, { recursive: true });
  }
}
