import { setImmediate } from 'node:timers/promises';
import { ClassicLevel } from 'classic-level';
import { encodeCommit } from './commit-value.ts';
import { checkFormat } from './format.ts';
import { JoinedWrites } from './joined-writes.ts';
import { LevelFolder } from './level-folder.ts';
import { SpecFolder, keyOf, statuses } from './spec-store.ts';
import { StoredIds } from './stored-ids.ts';
import { type SweepReport, sweepOnce } from './sweep.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const LEASE_MS = 30_000;
const FOREVER = encodeCommit(0n);
const EXPIRED = encodeCommit(1n);
const UNREADABLE = Buffer.from('8 bytes!');

let folder: SpecFolder;
beforeEach(async () => (folder = await SpecFolder.make()));
afterEach(async () => {
  jest.restoreAllMocks();
  await folder.end();
});

describe('a pass', () => {
  test('DDP-5: deletes expired and unreadable values over chunk borders and keeps the rest; the next finds nothing', async () => {
    const swept = await opened();
    const values = [FOREVER, EXPIRED, UNREADABLE];
    await swept.put(Array.from({ length: 3_000 }, (_, i) => [`t/t/${i}`, values[i % 3]!]));
    expect(await swept.pass()).toEqual({ expired: 1_000, unreadable: 1_000 });
    expect(await swept.count()).toBe(1_000);
    expect(await swept.pass()).toEqual({ expired: 0, unreadable: 0 });
    await swept.close();
  });

  test('DDP-5: a chunk of nothing but dead keys at the very end is swept too', async () => {
    const swept = await opened();
    await swept.put(Array.from({ length: 2_048 }, (_, i) => [`t/t/${i}`, EXPIRED]));
    expect(await swept.pass()).toEqual({ expired: 2_048, unreadable: 0 });
    expect(await swept.count()).toBe(0);
    await swept.close();
  });

  test('DDP-5: an id that is committed anew while its chunk is swept stays', async () => {
    const swept = await opened();
    await swept.put([
      ['t/t/a', EXPIRED],
      ['t/t/b', EXPIRED],
    ]);
    const scan = swept.level.scan.bind(swept.level);
    swept.level.scan = async (after, limit) => {
      const chunk = await scan(after, limit);
      void swept.put([['t/t/a', FOREVER]]);
      return chunk;
    };
    expect(await swept.pass()).toEqual({ expired: 1, unreadable: 0 });
    expect(await swept.level.getMany(['t/t/a', 't/t/b'])).toEqual([Buffer.from(FOREVER), undefined]);
    await swept.close();
  });
});

describe('what a pass learns', () => {
  // kills: sweep.ts: writes.alone(async => [0].map(async
  test('DDP-2: after a pass an id that was committed behind its back is known, like every one that it found', async () => {
    const swept = await opened();
    await swept.put(Array.from({ length: 1_500 }, (_, i) => [`t/t/${1_000 + i}`, i % 3 === 0 ? EXPIRED : FOREVER]));
    const { scan, write } = swept.level;
    const scanned = Promise.withResolvers<void>();
    // Both ids sort before what is left to scan when they are on disk: the pass does not come there again.
    swept.level.approximateBytes = async () => 0;
    swept.level.write = async (...batch) => {
      await Promise.race([scanned.promise, turns(100)]);
      return write.apply(swept.level, batch);
    };
    swept.level.scan = async (...range) => {
      const chunk = await scan.apply(swept.level, range);
      scanned.resolve();
      if (range[0] === '!format') await swept.put([['t/t/0', FOREVER]]);
      return chunk;
    };
    const begunBefore = swept.put([['t/t/1', FOREVER]]);
    await swept.pass();
    await begunBefore;
    const ids = ['t/t/0', 't/t/1', ...Array.from({ length: 1_500 }, (_, i) => `t/t/${1_000 + i}`)];
    const there = await swept.level.getMany(ids);
    expect(there.slice(0, 2)).toEqual([Buffer.from(FOREVER), Buffer.from(FOREVER)]);
    const lost = ids.filter((id, i) => there[i] !== undefined && swept.stored.isAbsent(id));
    expect(lost).toEqual([]);
    expect(ids.filter((id) => swept.stored.isAbsent(id)).length).toBeGreaterThan(400);
    await swept.close();
  });

  // kills: sweep.ts: if (states[i] === 'live') stored.found(key) => if (states[i] !== 'live') stored.found(key)
  test('DDP-2: an id that is alive again, since the clock was set back during the pass, is known', async () => {
    const swept = await opened();
    await swept.put([['t/t/a', EXPIRED]]);
    const getMany = swept.level.getMany.bind(swept.level);
    swept.level.getMany = (keys) => {
      folder.time.jumpWall(-folder.time.now() - 1);
      return getMany(keys);
    };
    expect(await swept.pass()).toEqual({ expired: 0, unreadable: 0 });
    expect([swept.stored.isAbsent('t/t/a'), swept.stored.isAbsent('t/t/b')]).toEqual([false, true]);
    await swept.close();
  });

  test('DDP-2: a pass that fails or is stopped leaves what was known', async () => {
    const swept = await opened();
    await swept.put([['t/t/a', FOREVER]]);
    const { scan } = swept.level;
    swept.level.scan = () => Promise.reject(new Error('no disk'));
    await expect(swept.pass()).rejects.toThrow('no disk');
    expect(swept.stored.isAbsent('t/t/b')).toBe(false);
    swept.level.scan = scan;
    await swept.pass(AbortSignal.abort());
    expect(swept.stored.isAbsent('t/t/b')).toBe(false);
    await swept.pass();
    expect([swept.stored.isAbsent('t/t/a'), swept.stored.isAbsent('t/t/b')]).toEqual([false, true]);
    await swept.close();
  });

  test('DDP-5: in a folder that was there before, new ids are no longer read once the first pass has seen it', async () => {
    const reports: SweepReport[] = [];
    const store = await folder.reopen({ onSweep: (report) => reports.push(report) });
    await store.commit(await store.reserve([keyOf('old')], LEASE_MS), 0);
    await passed(MINUTE_MS);
    expect(reports).toHaveLength(1);
    const reads = jest.spyOn(ClassicLevel.prototype, 'getMany');
    expect(statuses(await store.reserve([keyOf('new')], LEASE_MS))).toEqual(['claimed']);
    expect(reads).not.toHaveBeenCalled();
    expect(statuses(await store.reserve([keyOf('old')], LEASE_MS))).toEqual(['duplicate']);
  });
});

describe('the sweep of an open store', () => {
  test('DDP-5: first runs a minute after opening, then every hour, and goes on after a pass that failed', async () => {
    const reports: SweepReport[] = [];
    const store = await folder.open({ onSweep: (report) => reports.push(report) });
    await store.commit(await store.reserve([keyOf('short')], LEASE_MS), 1_000);
    await store.commit(await store.reserve([keyOf('long')], LEASE_MS), 2 * HOUR_MS);
    await passed(MINUTE_MS - 1);
    expect(reports).toEqual([]);
    await passed(1);
    expect(reports).toEqual([{ kind: 'done', expired: 1, unreadable: 0 }]);
    jest.spyOn(ClassicLevel.prototype, 'iterator').mockImplementationOnce(() => {
      throw Object.assign(new Error('IO error: Input/output error'), { code: 'LEVEL_IO_ERROR' });
    });
    await passed(HOUR_MS);
    expect(reports[1]).toMatchObject({ kind: 'failed', fault: { code: 'unavailable' } });
    await passed(HOUR_MS);
    expect(reports[2]).toEqual({ kind: 'done', expired: 1, unreadable: 0 });
  });

  test('DDP-5: closing during a pass stops it between two chunks; what is left is swept after the next opening', async () => {
    const first = await folder.open();
    const keys = Array.from({ length: 1_500 }, (_, i) => keyOf(`${i}`));
    await first.commit(await first.reserve(keys, LEASE_MS), 1_000);
    await passed(MINUTE_MS);
    await first.close();
    expect(folder.time.sleepers).toBe(0);
    const reports: SweepReport[] = [];
    const second = await folder.open({ onSweep: (report) => reports.push(report) });
    expect(statuses(await second.reserve([keyOf('0'), keyOf('1499')], LEASE_MS))).toEqual(['claimed', 'claimed']);
    await passed(MINUTE_MS);
    expect(reports).toEqual([{ kind: 'done', expired: 1_500 - 1_024, unreadable: 0 }]);
  });
});

/** Moves time, then waits until the sweep sleeps again. */
async function passed(ms: number): Promise<void> {
  folder.time.advance(ms);
  do await setImmediate();
  while (folder.time.sleepers === 0);
}

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await setImmediate();
}

async function opened() {
  const level = await LevelFolder.open(folder.path);
  await checkFormat(level);
  const stored = new StoredIds({ isEmpty: false });
  const writes = new JoinedWrites(level, stored);
  const clock = folder.time;
  const sleeper = { sleep: () => Promise.resolve() };
  return {
    level,
    stored,
    put: (entries: [string, Uint8Array][]) => writes.put(entries.map(([key, value]) => ({ type: 'put', key, value }))),
    pass: (signal?: AbortSignal) => sweepOnce({ level, writes, stored, clock, sleeper }, signal),
    count: async () => (await level.scan('!format', 10_000)).length,
    close: () => level.close(),
  };
}
