import { I64_MAX } from '@tidemark/libs-wire';
import { headOf, streamsOf } from './census-page.ts';
import { awsError } from './spec-dynamo.ts';
import { SpecRig } from './spec-rig.ts';

const item = (stream: string, seq: bigint, more = {}) => ({
  stream_id: { S: stream },
  seq: { N: String(seq) },
  ...more,
});

/** As an old stream stands in the table: claims, counter, ops. */
function longStream(rig: SpecRig, stream: string, ops: number): void {
  for (let seq = 1n; seq <= BigInt(ops); seq++) {
    rig.dynamo.put('ops', item(stream, seq));
    rig.dynamo.put('ops', item(stream, -1000n - seq));
  }
  rig.dynamo.put('ops', item(stream, 0n, { next_seq: { N: String(ops) } }));
}

const censusOf = (rig: SpecRig) =>
  JSON.parse(rig.checkpointOf('control') ?? '{}') as { census: number; reason: string };
const segment = (rig: SpecRig, i = 0) => JSON.parse(rig.checkpointOf(`census/${i}`) ?? '{}') as { after: unknown };

test('F19, FLD-3: a table with years of ops is named stream by stream, each for one page and one read', async () => {
  const rig = new SpecRig();
  rig.streams.shard('a');
  for (let i = 0; i < 3; i++) longStream(rig, `long${i}`, 700);
  for (let i = 0; i < 100; i++) rig.op(`s${i}`, 2n);
  const worker = rig.start({ segments: 3 });
  await rig.pass(5000);
  expect(worker.heads.size).toBe(103);
  for (let i = 0; i < 3; i++) expect(worker.heads.get(`long${i}`)).toBe(700n);
  expect(rig.dynamo.count('Scan')).toBeLessThanOrEqual(7);
  expect([0, 1, 2].map((i) => segment(rig, i).after)).toEqual(['end', 'end', 'end']);
  expect(worker.logged.filter(({ message }) => message.startsWith('a census has named')).length).toBe(3);
});

// kills: census-reader.ts: this.#state = { ...this.#state, after: this.#ended }; => void 0;
test('FLD-3: a table that takes no made-up key to go on from is read page by page', async () => {
  const rig = new SpecRig();
  rig.streams.shard('a');
  rig.dynamo.takesAnyStartKey = false;
  longStream(rig, 'long', 1000);
  rig.op('t', 1n);
  const worker = rig.start();
  await rig.pass(5000);
  expect(worker.heads).toEqual(new Map([['long', 1000n], ['t', 1n]])); // prettier-ignore
});

test('FLD-3: a stream whose counter is missing or cannot be read counts with its newest op, and an empty one not at all', async () => {
  const rig = new SpecRig();
  rig.streams.shard('a');
  rig.dynamo.put('ops', item('lost', 3n));
  rig.dynamo.put('ops', item('claimed', -3n));
  rig.dynamo.put('ops', item('fresh', 0n, { next_seq: { N: '0' } }));
  rig.dynamo.put('ops', item('broken', 0n, { next_seq: { S: 'x' } }));
  rig.dynamo.put('ops', item('broken', 4n));
  longStream(rig, 'long', 500);
  rig.dynamo.remove('ops', item('long', 0n));
  const worker = rig.start();
  await rig.pass(5000);
  expect(worker.heads).toEqual(new Map([['lost', 3n], ['broken', 4n], ['long', 500n]])); // prettier-ignore
  expect(worker.logged.find(({ level }) => level === 'warn')?.fields).toEqual({ stream: 'broken' });
});

test('FLD-3: a counter may stand behind the ops, and items that are no items are left out', () => {
  const page = [
    item('s', 0n, { next_seq: { N: '2' } }),
    item('s', I64_MAX),
    { seq: { N: '1' } },
    { stream_id: { S: 'x' } },
  ];
  expect(streamsOf(page)).toEqual([{ stream: 's', counter: 2n, top: I64_MAX }]);
  expect(streamsOf(page).map(headOf)).toEqual([I64_MAX]);
});

test('FLD-9, FLD-3: a census that a crash cut off goes on where its effects were stored', async () => {
  const rig = new SpecRig();
  rig.streams.shard('a');
  for (let i = 0; i < 20; i++) rig.op(`s${String(i).padStart(2, '0')}`, 1n);
  rig.dynamo.pageItemsMax = 10;
  const first = rig.start({ censusUnitsPerSecond: 1 });
  await rig.pass(2500);
  first.stores = false;
  await rig.pass(1000);
  const { after } = segment(rig);
  expect(after).not.toBeNull();
  first.die();
  const next = rig.start();
  await rig.pass(30_000);
  expect(next.heads.has('s00')).toBe(false);
  expect(next.heads.has('s19')).toBe(true);
  expect(new Set([...first.heads.keys(), ...next.heads.keys()]).size).toBe(20);
});

test('FLD-3: a census takes no more of the table than it may', async () => {
  const rig = new SpecRig();
  rig.streams.shard('a');
  for (let i = 0; i < 100; i++) rig.op(`s${i}`, 1n);
  rig.dynamo.pageItemsMax = 4;
  rig.start({ segments: 4, censusUnitsPerSecond: 2 });
  await rig.pass(10_000);
  // A page here costs one unit, and the read of a counter another.
  expect(rig.dynamo.count('Scan')).toBeGreaterThan(5);
  expect(rig.dynamo.count('Scan')).toBeLessThanOrEqual(24);
});

test('FLD-3: every stream is named again when a census is due, which finds what no record told', async () => {
  const rig = new SpecRig();
  rig.streams.shard('a');
  rig.op('s', 1n);
  const workers = [rig.start({ censusMs: 60_000 }), rig.start({ censusMs: 60_000 })];
  await rig.pass(5000);
  rig.op('silent', 3n);
  await rig.pass(50_000);
  const heads = () => new Map(workers.flatMap((worker) => [...worker.heads]));
  expect(heads().has('silent')).toBe(false);
  await rig.pass(15_000);
  expect(heads().get('silent')).toBe(3n);
  expect(censusOf(rig)).toMatchObject({ census: 2, reason: 'it is time' });
});

// kills: shard-reader.ts: if (!this.#isCounted) await this.#parts.lost( => if (!this.#isCounted) void (
test('FLD-4, FLD-3: records that were trimmed before they were read are never skipped: a census names their streams', async () => {
  const rig = new SpecRig();
  const shard = rig.streams.shard('a');
  const first = rig.start();
  rig.streams.append(shard, 'old', 1n);
  await rig.pass(3000);
  first.die();
  for (const stream of ['lost', 'kept']) {
    rig.op(stream, 2n);
    rig.streams.append(shard, stream, 2n);
  }
  shard.trimmed = 2;
  const next = rig.start();
  await rig.pass(40_000);
  expect(next.heads).toEqual(new Map([['kept', 2n], ['lost', 2n]])); // prettier-ignore
  expect(next.shards).toContain('trimmed');
  expect(censusOf(rig)).toMatchObject({ census: 2, reason: expect.stringMatching(/^shard a is trimmed behind \d+$/) });
});

test('FLD-4: nothing of a trimmed shard is read on before it is stored that a census is wanted', async () => {
  const rig = new SpecRig();
  const shard = rig.streams.shard('a');
  const first = rig.start();
  rig.streams.append(shard, 'old', 1n);
  await rig.pass(3000);
  first.die();
  rig.op('lost', 2n);
  rig.streams.append(shard, 'lost', 2n);
  rig.streams.append(shard, 'kept', 2n);
  shard.trimmed = 2;
  let isCut = true;
  rig.dynamo.between = async ({ name, input }, pass) => {
    if (isCut && name === 'PutItem' && input.Item.leaseKey.S === 'control') throw awsError('InternalServerError');
    return pass();
  };
  const next = rig.start();
  await rig.pass(40_000);
  expect(next.heads.size).toBe(0);
  expect(rig.checkpointOf(`shard/${rig.dynamo.label}/a`)).toBe(shard.records[0]?.sequence);
  isCut = false;
  await rig.pass(15_000);
  expect([...next.heads.keys()].sort()).toEqual(['kept', 'lost']);
});

test('FLD-4: a shard that is gone is asked of a census, and its children are read', async () => {
  const rig = new SpecRig();
  const parent = rig.streams.shard('parent');
  const first = rig.start();
  await rig.pass(2000);
  first.die();
  rig.op('lost', 1n);
  Object.assign(parent, { isThere: false, isListed: false });
  rig.streams.append(rig.streams.shard('child', 'parent'), 's', 1n);
  const next = rig.start();
  await rig.pass(60_000);
  expect(next.heads).toEqual(new Map([['s', 1n], ['lost', 1n]])); // prettier-ignore
  expect(next.shards).toEqual(['vanished']);
  expect(rig.shardRow('parent')).toMatchObject({ checkpoint: { S: 'SHARD_END' } });
});

test('FLD-4: a shard that a listing forgets for a moment, or that is not found for a moment, is not given up', async () => {
  const rig = new SpecRig();
  const shard = rig.streams.shard('a');
  const worker = rig.start();
  await rig.pass(2000);
  for (const flaw of [{ isThere: false }, { isListed: false }, { isThere: false, isListed: false }]) {
    Object.assign(shard, flaw);
    await rig.pass(5000);
    Object.assign(shard, { isThere: true, isListed: true });
    await rig.pass(30_000);
  }
  rig.streams.append(shard, 's', 1n);
  await rig.pass(12_000);
  expect(worker.heads.get('s')).toBe(1n);
  expect(worker.shards).toEqual([]);
});

test('FLD-4: a parent that was trimmed before anybody saw it is asked of a census, unless the fold is new', async () => {
  const rig = new SpecRig();
  rig.streams.append(rig.streams.shard('b', 'trimmed'), 's', 1n);
  const worker = rig.start();
  await rig.pass(5000);
  expect(worker.heads.size).toBe(0);
  await rig.pass(15_000);
  expect(worker.heads.get('s')).toBe(1n);
  expect(censusOf(rig).census).toBe(1);
  rig.op('lost', 1n);
  rig.streams.append(rig.streams.shard('d', 'unseen'), 't', 1n);
  await rig.pass(60_000);
  expect([worker.heads.get('t'), worker.heads.get('lost')]).toEqual([1n, 1n]);
  expect(censusOf(rig)).toMatchObject({ census: 2, reason: 'the parent of shard d was trimmed unseen' });
});

test('FLD-4: a stream that was switched off and on again is followed from its start, and a census names what came between', async () => {
  const rig = new SpecRig();
  const old = rig.streams.shard('old');
  const worker = rig.start();
  await rig.pass(2000);
  rig.dynamo.isStreamOn = false;
  await rig.pass(35_000);
  expect(worker.logged.filter(({ level }) => level === 'error').length).toBe(1);
  rig.op('between', 1n);
  Object.assign(old, { isListed: false, isThere: false });
  rig.dynamo.label = '2026-01-02T00:00:00.000';
  rig.dynamo.isStreamOn = true;
  rig.streams.append(rig.streams.shard('new'), 's', 1n);
  await rig.pass(60_000);
  expect([worker.heads.get('s'), worker.heads.get('between')]).toEqual([1n, 1n]);
  expect([...rig.dynamo.leases().keys()].sort()).toEqual(['census/0', 'control', 'shard/2026-01-02T00:00:00.000/new']);
  // An answer that shows the older stream again leads nobody back.
  rig.dynamo.label = '2026-01-01T00:00:00.000';
  await rig.pass(35_000);
  expect(JSON.parse(rig.checkpointOf('control') ?? '').label).toBe('2026-01-02T00:00:00.000');
});

test('F13: what is wanted while a census is being taken is another one behind it', async () => {
  const rig = new SpecRig();
  const shards = ['a', 'b'].map((id) => rig.streams.shard(id));
  for (const shard of shards) rig.streams.append(shard, 'old', 1n);
  for (let i = 0; i < 40; i++) rig.op(`s${i}`, 1n);
  rig.dynamo.pageItemsMax = 4;
  const first = rig.start({ censusUnitsPerSecond: 2 });
  await rig.pass(3000);
  first.die();
  for (const shard of shards) {
    rig.streams.append(shard, 'x', 1n);
    shard.trimmed = 2;
  }
  const next = rig.start({ censusUnitsPerSecond: 20 });
  await rig.pass(60_000);
  expect(censusOf(rig).census).toBe(2);
  expect(segment(rig)).toMatchObject({ census: 2, after: 'end' });
  expect(next.heads.size).toBe(40);
});

// kills: shard-reader.ts: if (this.#at === TRIM_HORIZON) await this.#assertUntrimmed(); => void 0;
test('FLD-4: a shard of which nothing was read yet, and not looked at for a day, may have lost its first records without a word', async () => {
  const rig = new SpecRig();
  const shard = rig.streams.shard('a');
  const first = rig.start({ censusMs: 0 });
  await rig.pass(3000);
  first.die();
  rig.op('lost', 1n);
  rig.streams.append(shard, 'lost', 1n);
  rig.time.advance(25 * 3_600_000);
  shard.trimmed = 1;
  const next = rig.start({ censusMs: 0 });
  await rig.pass(30_000);
  expect(next.heads).toEqual(new Map([['lost', 1n]]));
  expect(censusOf(rig)).toMatchObject({ census: 2, reason: 'shard a was not read for long' });
});

// kills: discovery.ts: if (found.length > 0 && !isNew && Math.abs(nowMs - listedAtMs) >= KEPT_MS) => if (nowMs < 0)
test('FLD-4: shards that came while nobody listed them for a day may have lost their first records without a word', async () => {
  const rig = new SpecRig();
  const parent = rig.streams.shard('parent');
  parent.isClosed = true;
  const first = rig.start({ censusMs: 0 });
  await rig.pass(5000);
  first.die();
  const child = rig.streams.shard('child', 'parent');
  rig.op('lost', 1n);
  rig.streams.append(child, 'lost', 1n);
  rig.time.advance(25 * 3_600_000);
  rig.streams.append(child, 'kept', 1n);
  child.trimmed = 1;
  const next = rig.start({ censusMs: 0 });
  await rig.pass(30_000);
  expect(next.heads).toEqual(new Map([['kept', 1n], ['lost', 1n]])); // prettier-ignore
  expect(censusOf(rig)).toMatchObject({ census: 2, reason: 'the shards were not listed for long' });
});

test('FLD-4: a fold that looks at its shards all the time is not sent to a census by their age', async () => {
  const rig = new SpecRig();
  rig.streams.shard('a');
  rig.start({ censusMs: 0 });
  await rig.pass(2000);
  for (let hours = 0; hours < 60; hours += 4) {
    rig.time.advance(4 * 3_600_000);
    await rig.pass(12_000);
  }
  rig.streams.shard('b');
  await rig.pass(32_000);
  expect(rig.shardRow('b')).toBeDefined();
  expect(censusOf(rig).census).toBe(1);
});
