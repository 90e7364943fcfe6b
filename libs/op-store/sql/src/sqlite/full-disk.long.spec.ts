import { spawnSync } from 'node:child_process';
import { rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { anOp, readAll } from '@tidemark/libs-op-store-contract/testing';
import Database from 'better-sqlite3';
import { Scratch } from './scratch.ts';

jest.setTimeout(300_000);

let scratch: Scratch;
let mounted: boolean;
beforeEach(() => {
  scratch = new Scratch();
  mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=24m', 'tmpfs', scratch.folder]).status === 0;
});
afterEach(async () => {
  await scratch.close();
  if (mounted) spawnSync('umount', ['--lazy', scratch.folder]);
  await scratch.remove();
});

/** Where no small disk may be mounted. */
const skip = () => console.warn('skipped: no right to mount a small disk');

const large = (opId: string) => anOp({ opId, value: 'v'.repeat(20_000) });

/** Appends until the disk is full; answers how many ops are stored. */
async function fill(opStore: Awaited<ReturnType<Scratch['openWithThread']>>['opStore'], name: string): Promise<number> {
  for (let i = 0; ; i++) {
    try {
      await opStore.append('s', [large(`${name}-${i}`)]);
    } catch (fault) {
      expect(fault).toMatchObject({ code: 'disk_full', outcome: 'not-done' });
      return i;
    }
  }
}

it('OPS-6: a full disk refuses appends for certain, reads go on, nothing is lost, and with space again writes go on', async () => {
  if (!mounted) return skip();
  const ballast = path.join(scratch.folder, 'ballast');
  writeFileSync(ballast, Buffer.alloc(8 << 20));
  const { opStore } = await scratch.openWithThread();
  const before = await fill(opStore, 'before');
  expect(before).toBeGreaterThan(100);
  for (let i = 0; i < 20; i++)
    await expect(opStore.append('s', [large('more')])).rejects.toMatchObject({ code: 'disk_full' });
  expect(await readAll(opStore, 's', 500)).toHaveLength(before);
  rmSync(ballast);
  const after = await fill(opStore, 'after');
  expect(after).toBeGreaterThan(100);
  const seqs = (await readAll(opStore, 's', 500)).map(({ seq }) => seq);
  expect(seqs).toEqual(Array.from({ length: before + after }, (_, i) => BigInt(i + 1)));
});

it('OPS-6: a log that cannot be moved to the main file grows to the end of the disk, and writes go on when it can', async () => {
  if (!mounted) return skip();
  const { opStore } = await scratch.openWithThread();
  await opStore.append('s', [large('first')]);
  // Who reads an old state keeps the log from being emptied.
  const reader = new Database(scratch.file);
  reader.exec('BEGIN; SELECT count(*) FROM stream_ops');
  const before = 1 + (await fill(opStore, 'before'));
  expect(statSync(`${scratch.file}-wal`).size).toBeGreaterThan(16 << 20);
  expect(await readAll(opStore, 's', 500)).toHaveLength(before);
  reader.close();
  spawnSync('mount', ['-o', 'remount,size=80m', scratch.folder]);
  for (let i = 0; i < 50; i++) await opStore.append('s', [large(`after-${i}`)]);
  const seqs = (await readAll(opStore, 's', 500)).map(({ seq }) => seq);
  expect(seqs).toEqual(Array.from({ length: before + 50 }, (_, i) => BigInt(i + 1)));
});
