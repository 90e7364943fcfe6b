import { setImmediate } from 'node:timers/promises';
import { type DedupeManifest, casesFor } from '@tidemark/libs-dedupe-contract/testing';
import { ClassicLevel } from 'classic-level';
import { SpecFolder, keyOf, statuses, windowOf } from './spec-store.ts';

/** LevelDB's lock keeps a folder to one process, and the clock is compared to the millisecond. */
const manifest: DedupeManifest = { sharedAcrossProcesses: false, expiryRoundsUpMs: 0 };
const LEASE_MS = 30_000;

let folder: SpecFolder;
beforeEach(async () => (folder = await SpecFolder.make()));
afterEach(async () => {
  jest.restoreAllMocks();
  await folder.end();
});

describe('the contract', () => {
  test.each(casesFor(manifest))('$title', ({ run }) =>
    run({ manifest, time: folder.time, open: () => folder.reopen(), breakNextReserve: failNextRead }),
  );
});

describe('the contract in a folder that is new, where hardly anything is read', () => {
  const readsAnyway = casesFor(manifest).filter(({ kills }) => kills !== 'keepsClaimsOfFailedReserve');
  test.each(readsAnyway)('$title', ({ run }) =>
    run({ manifest, time: folder.time, open: () => folder.open(), breakNextReserve: failNextRead }),
  );
});

describe('reserve', () => {
  test('DDP-2: a reserve that waits for the verdict of one whose read fails decides for itself', async () => {
    const store = await folder.reopen();
    failNextRead();
    const [first, second] = await Promise.allSettled([
      store.reserve([keyOf('a'), keyOf('b')], LEASE_MS),
      store.reserve([keyOf('b'), keyOf('a')], LEASE_MS),
    ]);
    expect(first).toMatchObject({ status: 'rejected', reason: { code: 'unavailable', outcome: 'not-done' } });
    expect(second).toMatchObject({ value: [{ status: 'claimed' }, { status: 'claimed' }] });
  });

  test('DDP-1: a reserve that fails after it waited gives back what it had claimed before', async () => {
    const store = await folder.reopen();
    const { getMany } = ClassicLevel.prototype;
    const failure = ioError('Input/output error');
    const reads = jest.spyOn(ClassicLevel.prototype, 'getMany');
    reads.mockRejectedValueOnce(failure).mockImplementationOnce(getMany).mockRejectedValueOnce(failure);
    const both = [store.reserve([keyOf('a')], LEASE_MS), store.reserve([keyOf('a'), keyOf('b')], LEASE_MS)];
    expect((await Promise.allSettled(both)).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(statuses(await store.reserve([keyOf('a'), keyOf('b')], LEASE_MS))).toEqual(['claimed', 'claimed']);
  });

  test('DDP-2: a reserve that overlaps others on both sides gets each verdict from the one that took the key', async () => {
    const store = await folder.open();
    await store.commit(await store.reserve([keyOf('b')], LEASE_MS), 0);
    const claims = await Promise.all([
      store.reserve([keyOf('a'), keyOf('b')], LEASE_MS),
      store.reserve([keyOf('c'), keyOf('d')], LEASE_MS),
      store.reserve([keyOf('d'), keyOf('b'), keyOf('e'), keyOf('a')], LEASE_MS),
    ]);
    expect(claims.map(statuses)).toEqual([
      ['claimed', 'duplicate'],
      ['claimed', 'claimed'],
      ['in_flight', 'duplicate', 'claimed', 'in_flight'],
    ]);
  });

  test('DDP-2: while a commit is being written its key is never free', async () => {
    const store = await folder.open();
    const claims = await store.reserve([keyOf('a')], LEASE_MS);
    let committed = false;
    const committing = store.commit(claims, 0).then(() => (committed = true));
    const seen = new Set<string>();
    for (; !committed; await setImmediate()) seen.add(statuses(await store.reserve([keyOf('a')], LEASE_MS)).join());
    await committing;
    seen.add(statuses(await store.reserve([keyOf('a')], LEASE_MS)).join());
    expect([...seen].sort()).toEqual(['duplicate', 'in_flight']);
  });

  test('DDP-1: a window of 256 keys is one read', async () => {
    const store = await folder.reopen();
    const reads = jest.spyOn(ClassicLevel.prototype, 'getMany');
    await store.reserve(
      Array.from({ length: 256 }, (_, i) => keyOf(`${i}`)),
      LEASE_MS,
    );
    expect(reads).toHaveBeenCalledTimes(1);
  });

  // kills: stored-ids.ts: if (isEmpty) this.#known => if (false) this.#known
  test('DDP-1: in a folder that is new, ids that nobody stored are not read at all', async () => {
    const store = await folder.open();
    const reads = jest.spyOn(ClassicLevel.prototype, 'getMany');
    const claims = await store.reserve(windowOf(0), LEASE_MS);
    expect(reads).not.toHaveBeenCalled();
    await store.commit(claims, 0);
    expect(new Set(statuses(await store.reserve(windowOf(0), LEASE_MS)))).toEqual(new Set(['duplicate']));
    expect(reads).toHaveBeenCalledTimes(1);
  });

  test('DDP-7: leases run on the monotonic clock: a step of the wall clock neither ends nor prolongs them', async () => {
    const store = await folder.open();
    await store.reserve([keyOf('a'), keyOf('b')], LEASE_MS);
    folder.time.jumpWall(86_400_000);
    expect(statuses(await store.reserve([keyOf('a')], LEASE_MS))).toEqual(['in_flight']);
    folder.time.jumpWall(-2 * 86_400_000);
    folder.time.advance(LEASE_MS);
    expect(statuses(await store.reserve([keyOf('b')], LEASE_MS))).toEqual(['claimed']);
  });

  test('I4: the claims of a process end with it', async () => {
    const store = await folder.open();
    const old = await store.reserve([keyOf('a')], LEASE_MS);
    await store.close();
    const next = await folder.open();
    expect(statuses(await next.reserve([keyOf('a')], LEASE_MS))).toEqual(['claimed']);
    await next.release(old);
    expect(statuses(await next.reserve([keyOf('a')], LEASE_MS))).toEqual(['in_flight']);
  });
});

describe('commit', () => {
  test('DDP-3: a commit of a window is one synced batch', async () => {
    const store = await folder.open();
    const claims = await store.reserve(
      Array.from({ length: 256 }, (_, i) => keyOf(`${i}`)),
      LEASE_MS,
    );
    const batches = spyOnBatch();
    await store.commit(claims, 0);
    expect(batches.mock.calls.map(([operations, options]) => [operations?.length, options])).toEqual([
      [256, { sync: true }],
    ]);
  });

  test('DDP-3: a thousand ids in windows of 256 are 4 synced batches, and a reserve or a release writes nothing', async () => {
    const store = await folder.open();
    const batches = spyOnBatch();
    for (let from = 0; from < 1_000; from += 256) {
      const keys = Array.from({ length: Math.min(256, 1_000 - from) }, (_, i) => keyOf(`${from + i}`));
      await store.release(await store.reserve(keys, LEASE_MS));
      await store.commit(await store.reserve(keys, LEASE_MS), 0);
    }
    expect(batches.mock.calls.map(([operations, options]) => [operations?.length, options])).toEqual([
      [256, { sync: true }],
      [256, { sync: true }],
      [256, { sync: true }],
      [232, { sync: true }],
    ]);
  });

  test('DDP-3: commits that wait at once share a batch, and each resolves only when its own is on disk', async () => {
    const store = await folder.open();
    const claims = await store.reserve(
      Array.from({ length: 64 }, (_, i) => keyOf(`${i}`)),
      LEASE_MS,
    );
    const first = store.commit([claims[0]!], 0);
    const batches = spyOnBatch();
    await Promise.resolve();
    await Promise.all([first, ...claims.slice(1).map((claim) => store.commit([claim], 0))]);
    const keysOf = batches.mock.calls.map(([operations]) => operations?.length);
    expect(keysOf).toEqual([1, 63]);
  });

  test('DDP-3: a failed commit says that its outcome is unknown, its claim stays, and a second try lands', async () => {
    const store = await folder.open();
    const claims = await store.reserve([keyOf('a')], LEASE_MS);
    spyOnBatch().mockRejectedValueOnce(ioError('No space left on device'));
    await expect(store.commit(claims, 0)).rejects.toMatchObject({ code: 'disk_full', outcome: 'unknown' });
    expect(statuses(await store.reserve([keyOf('a')], LEASE_MS))).toEqual(['in_flight']);
    await store.commit(claims, 0);
    expect(statuses(await store.reserve([keyOf('a')], LEASE_MS))).toEqual(['duplicate']);
  });
});

test('DDP-1: close waits for the calls that run, also for a commit that waits behind another', async () => {
  const store = await folder.open();
  const claims = await store.reserve([keyOf('a'), keyOf('b')], LEASE_MS);
  const calls: Promise<unknown>[] = [store.commit([claims[0]!], 0)];
  await Promise.resolve();
  calls.push(store.commit([claims[1]!], 0), store.reserve([keyOf('c')], LEASE_MS));
  await store.close();
  await expect(Promise.all(calls)).resolves.toHaveLength(3);
  const reopened = await folder.open();
  const again = await reopened.reserve([keyOf('a'), keyOf('b'), keyOf('c')], LEASE_MS);
  expect(statuses(again)).toEqual(['duplicate', 'duplicate', 'claimed']);
});

function failNextRead(): void {
  jest.spyOn(ClassicLevel.prototype, 'getMany').mockRejectedValueOnce(ioError('Input/output error'));
}

function ioError(text: string): Error {
  return Object.assign(new Error(`IO error: 000003.log: ${text}`), { code: 'LEVEL_IO_ERROR' });
}

/** The overloads of batch hide its arguments from Jest's types; this is the form that the store calls. */
function spyOnBatch() {
  interface Batching {
    batch(operations: readonly unknown[], options: object): Promise<void>;
  }
  return jest.spyOn(ClassicLevel.prototype as unknown as Batching, 'batch');
}
