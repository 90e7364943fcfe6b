import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { readAll, someOps } from '@tidemark/libs-op-store-contract/testing';
import { serverTests, skipped, startedHere } from '@tidemark/tools-services/testing';
import { Scratch } from './scratch.ts';

const postgresTest = serverTests('postgres');

/** Makes every sync of a process fail; null where none may be traced. */
async function failSyncs(pid: number): Promise<ChildProcess | null> {
  if (spawnSync('strace', ['-V']).status !== 0) return null;
  const inject = ['-e', 'trace=fsync,fdatasync', '-e', 'inject=fsync,fdatasync:error=EIO'];
  const strace = spawn('strace', ['-qq', '-o', '/dev/null', ...inject, '-p', String(pid)], { stdio: 'ignore' });
  const ended = once(strace, 'exit').then(() => true);
  for (;;) {
    if (/^TracerPid:\s+[1-9]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))) return strace;
    if (await Promise.race([ended, new Promise<false>((resolve) => setImmediate(resolve, false))])) return null;
  }
}

const TITLE =
  'RLY-6, OPS-6: an append whose sync fails in Postgres is unknown, the server recovers with all that was answered, and writes go on';
postgresTest(
  TITLE,
  async (postgres) => {
    if (!startedHere(TITLE, postgres)) return;
    const scratch = await new Scratch(postgres.endpoint).make();
    const { opStore } = await scratch.open({ poolMax: 1 });
    for (let i = 0; i < 3; i++) await opStore.append('s', someOps(4, `before-${i}`));
    const backend = `SELECT pid FROM pg_stat_activity WHERE application_name = 'tidemark'`;
    const [{ pid }] = (await (await scratch.client()).query(backend)).rows as [{ pid: number }];
    const strace = await failSyncs(pid);
    if (strace === null) {
      await scratch.remove();
      return skipped(TITLE, 'no strace to make an fsync fail with');
    }
    await expect(opStore.append('s', someOps(4, 'in doubt'))).rejects.toMatchObject({ outcome: 'unknown' });
    strace.kill('SIGKILL');
    // Postgres ends every session and starts anew.
    for (let up = false; !up;) {
      up = await opStore.ping().then(
        () => true,
        () => false,
      );
    }
    const stored = await readAll(opStore, 's', 100);
    expect([12, 16]).toContain(stored.length);
    expect(stored.slice(0, 12).map(({ op }) => op.opId)).toEqual(
      [0, 1, 2].flatMap((i) => someOps(4, `before-${i}`).map(({ opId }) => opId)),
    );
    const again = await opStore.append('s', [...someOps(4, 'in doubt'), ...someOps(1, 'after')]);
    expect(again.map(({ seq }) => seq)).toEqual([13n, 14n, 15n, 16n, 17n]);
    await scratch.remove();
  },
  120_000,
);
