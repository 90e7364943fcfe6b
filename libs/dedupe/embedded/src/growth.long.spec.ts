import { createHash } from 'node:crypto';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { DedupeKey, Deduplicator } from '@tidemark/libs-dedupe-contract';
import type { Sleeper } from '@tidemark/libs-kernel';
import { SpecFolder, keyOf, statuses, windowOf } from './spec-store.ts';

const HOUR_MS = 3_600_000;
const LEASE_MS = 30_000;

let folder: SpecFolder;
beforeEach(async () => (folder = await SpecFolder.make()));
afterEach(() => folder.end());

test('I7: an id is a duplicate after a million others', async () => {
  const store = await folder.open();
  await store.commit(await store.reserve([keyOf('first')], LEASE_MS), 2 * HOUR_MS);
  await commitIds(store, 0, 1_000_000, 2 * HOUR_MS);
  expect(statuses(await store.reserve([keyOf('first')], LEASE_MS))).toEqual(['duplicate']);
}, 300_000);

// Ids in the order of their time are LevelDB's worst case: what is written later lies elsewhere and does not clean up among them.
test('DDP-5: with a finite retention the disk stays bounded, however many ids have passed', async () => {
  let swept = () => {};
  const store = await folder.open({ sleeper: withoutPauses(folder), onSweep: () => swept() });
  const bytes: number[] = [];
  for (let hour = 0; hour < HOURS; hour++) {
    const keys = longKeys(hour);
    await store.commit(await store.reserve(keys, LEASE_MS), HOUR_MS);
    const pass = new Promise<void>((resolve) => (swept = resolve));
    while (folder.time.sleepers === 0) await setImmediate();
    folder.time.advance(HOUR_MS);
    await pass;
    bytes.push(await bytesOf(folder.path));
  }
  expect(Math.max(...bytes)).toBeLessThan((HOURS * IDS_AN_HOUR * ID_BYTES) / 4);
}, 300_000);

const HOURS = 60;
const IDS_AN_HOUR = 5_000;
const ID_BYTES = 800;

/** Nothing in them can be compressed. */
function longKeys(hour: number): DedupeKey[] {
  return Array.from({ length: IDS_AN_HOUR }, (_, i) => {
    const noise = createHash('shake256', { outputLength: (ID_BYTES * 3) / 4 }).update(`${hour}-${i}`);
    return keyOf(`${String(hour).padStart(6, '0')}${noise.digest('base64url')}`);
  });
}

async function commitIds(store: Deduplicator, from: number, ids: number, retentionMs: number): Promise<void> {
  const keys = 5_000;
  for (let n = 0; n < ids / keys; n++) {
    const claims = await store.reserve(windowOf(from * 1_000 + n, keys), LEASE_MS);
    await store.commit(claims, retentionMs);
  }
}

/** The pauses inside a pass end at once; the long sleeps between two passes wait for the test. */
function withoutPauses({ time }: SpecFolder): Sleeper {
  return { sleep: (ms, signal) => (ms < 1_000 ? Promise.resolve() : time.sleep(ms, signal)) };
}

async function bytesOf(path: string): Promise<number> {
  const sizes = (await readdir(path)).map(async (name) => (await stat(join(path, name))).size);
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}
