import { awsError } from './spec-dynamo.ts';
import { SpecRig, type SpecWorker } from './spec-rig.ts';

function withShards(count: number): SpecRig {
  const rig = new SpecRig();
  for (let i = 0; i < count; i++) rig.streams.shard(`shard-${i}`);
  return rig;
}

/** Shards that each owner holds, by the leases table. */
function shares(rig: SpecRig): Map<string, number> {
  const counts = new Map<string, number>();
  for (const [key, row] of rig.dynamo.leases())
    if (key.startsWith('shard/')) {
      const owner = row['leaseOwner']?.S?.split('/')[0] ?? 'nobody';
      counts.set(owner, (counts.get(owner) ?? 0) + 1);
    }
  return counts;
}

const switches = (...workers: readonly SpecWorker[]) =>
  workers.flatMap(({ leases }) => leases).filter((event) => event !== 'released').length;

const NO_CENSUS = { censusMs: 0 };

test('FLD-5: workers share the shards fairly, those that come later too, and then nothing moves', async () => {
  const rig = withShards(8);
  const first = rig.start(NO_CENSUS);
  await rig.pass(1000);
  expect(shares(rig)).toEqual(new Map([['worker-0', 8]]));
  const second = rig.start(NO_CENSUS);
  await rig.pass(45_000);
  expect(shares(rig)).toEqual(new Map([['worker-0', 4], ['worker-1', 4]])); // prettier-ignore
  expect(second.leases).toContain('stolen');
  const before = switches(first, second);
  await rig.pass(60_000);
  expect(switches(first, second)).toBe(before);
});

test('FLD-5: leases of a worker that died are taken when they stood still for their time, by this worker’s clock', async () => {
  const rig = withShards(2);
  const dead = rig.start(NO_CENSUS);
  await rig.pass(1000);
  dead.die();
  rig.streams.append(rig.streams.shards.get('shard-0')!, 's', 1n);
  const worker = rig.start(NO_CENSUS);
  rig.time.jumpWall(86_400_000);
  await rig.pass(14_000);
  expect(shares(rig)).toEqual(new Map([['worker-0', 2]]));
  await rig.pass(8000);
  expect(shares(rig)).toEqual(new Map([['worker-1', 2]]));
  expect(worker.heads.get('s')).toBe(1n);
});

test('FLD-5: a worker that closes hands its leases over at once, with its checkpoints', async () => {
  const rig = withShards(1);
  const first = rig.start(NO_CENSUS);
  await rig.pass(1000);
  rig.streams.append(rig.streams.shards.get('shard-0')!, 's', 1n);
  await rig.pass(2000);
  await rig.during(first.close());
  expect(shares(rig)).toEqual(new Map([['nobody', 1]]));
  const next = rig.start(NO_CENSUS);
  rig.streams.append(rig.streams.shards.get('shard-0')!, 's', 2n);
  await rig.pass(2000);
  expect(next.heard).toEqual([{ stream: 's', head: 2n }]);
});

// kills: leases.ts: if (stored === null) return this.#drop(hold, 'lost'); => if (stored === null) return;
test('FLD-5, F14: a worker that was paused past its lease finds out before it reads on, and moves no checkpoint', async () => {
  const rig = withShards(1);
  const shard = rig.streams.shards.get('shard-0')!;
  const paused = rig.start(NO_CENSUS);
  await rig.pass(1000);
  paused.stores = false;
  rig.streams.append(shard, 's', 1n);
  await rig.pass(1000);
  paused.pauseCalls();
  const next = rig.start(NO_CENSUS);
  await rig.pass(30_000);
  rig.streams.append(shard, 's', 2n);
  await rig.pass(2000);
  const checkpoint = rig.checkpointOf(`shard/${rig.dynamo.label}/shard-0`);
  expect(checkpoint).toBe(shard.records[1]?.sequence);
  paused.stores = true;
  let reads = 0;
  paused.onCall = ({ name }) => void (reads += name === 'GetRecords' ? 1 : 0);
  paused.wakeCalls();
  await rig.pass(20_000);
  // The shard, the census, its end, and the shard again.
  expect(paused.leases).toEqual(['taken', 'taken', 'released', 'lost']);
  // The one that was on its way.
  expect(reads).toBeLessThanOrEqual(1);
  expect(next.leases).toEqual(['taken_over']);
  expect(rig.checkpointOf(`shard/${rig.dynamo.label}/shard-0`)).toBe(checkpoint);
});

// kills: leases.ts: return this.#parts.clock.monotonic() - confirmedAtMs < this.#parts.leaseMs; => return confirmedAtMs < Infinity;
test('FLD-5: at most two workers read one shard, whatever is stolen, paused and taken over', async () => {
  const rig = withShards(4);
  const readers = new Map<string, Map<SpecWorker, number>>();
  const start = () => {
    const worker: SpecWorker = rig.start(NO_CENSUS);
    worker.onCall = ({ name, input }) => {
      if (name !== 'GetRecords') return;
      const { id } = JSON.parse(input.ShardIterator) as { id: string };
      const seen = readers.get(id) ?? new Map<SpecWorker, number>();
      readers.set(id, seen.set(worker, rig.time.monotonic()));
    };
    return worker;
  };
  const most = () =>
    Math.max(0, ...[...readers.values()].map((seen) => [...seen.values()].filter((at) => rig.time.monotonic() - at < 2000).length)); // prettier-ignore
  let seenMost = 0;
  const pass = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 1000) {
      await rig.pass(1000);
      seenMost = Math.max(seenMost, most());
    }
  };
  const first = start();
  await pass(2000);
  for (let n = 0; n < 4; n++) {
    start();
    await pass(12_000);
  }
  first.cutLeases = true;
  const cutAtMs = rig.time.monotonic();
  await pass(40_000);
  const lastRead = Math.max(...[...readers.values()].map((seen) => seen.get(first) ?? 0));
  expect(lastRead).toBeGreaterThan(cutAtMs);
  expect(lastRead - cutAtMs).toBeLessThanOrEqual(15_000);
  expect(seenMost).toBeLessThanOrEqual(2);
  expect(shares(rig).get('worker-0')).toBeUndefined();
});

test('F13: after half a minute without the leases table every worker goes on with what it had', async () => {
  const rig = withShards(6);
  const workers = [rig.start(NO_CENSUS), rig.start(NO_CENSUS)];
  await rig.pass(40_000);
  const before = switches(...workers);
  rig.dynamo.between = async ({ input }, pass) => {
    if (input.TableName === 'leases') throw awsError('InternalServerError');
    return pass();
  };
  await rig.pass(30_000);
  rig.dynamo.between = (_, pass) => pass();
  for (let i = 0; i < 6; i++) rig.streams.append(rig.streams.shards.get(`shard-${i}`)!, `s${i}`, 1n);
  await rig.pass(20_000);
  const heads = new Map([...workers[0]!.heads, ...workers[1]!.heads]);
  expect(heads.size).toBe(6);
  expect(switches(...workers)).toBe(before);
  expect([...shares(rig).values()]).toEqual([3, 3]);
});

test('F13: a checkpoint that the leases table does not take is refused, and stored later', async () => {
  const rig = withShards(1);
  const worker = rig.start(NO_CENSUS);
  await rig.pass(1000);
  worker.stores = false;
  rig.streams.append(rig.streams.shards.get('shard-0')!, 's', 1n);
  await rig.pass(1000);
  worker.stop();
  await rig.pass(1000);
  const { position } = await rig.during(worker.feed.read(10, 100));
  rig.dynamo.between = async ({ name }, pass) => {
    if (name === 'PutItem') throw awsError('ThrottlingException');
    return pass();
  };
  await expect(rig.during(worker.feed.checkpoint(position))).rejects.toMatchObject({ code: 'unavailable' });
  rig.dynamo.between = (_, pass) => pass();
  await rig.during(worker.feed.checkpoint(position));
  const { sequence } = rig.streams.shards.get('shard-0')!.records[0]!;
  expect(rig.checkpointOf(`shard/${rig.dynamo.label}/shard-0`)).toBe(sequence);
});

test('F22: two folds of other names on one table each hear everything; two workers of one id share as any two do', async () => {
  const rig = withShards(2);
  const folds = [rig.start({ ...NO_CENSUS, name: 'fold' }), rig.start({ ...NO_CENSUS, name: 'other' })];
  const twin = rig.start({ ...NO_CENSUS, workerId: 'worker-0' });
  await rig.pass(45_000);
  for (let i = 0; i < 2; i++) rig.streams.append(rig.streams.shards.get(`shard-${i}`)!, `s${i}`, 1n);
  await rig.pass(2000);
  expect(folds[1]!.heads.size).toBe(2);
  expect([folds[0]!.heads.size, twin.heads.size]).toEqual([1, 1]);
  expect(rig.checkpointOf(`shard/${rig.dynamo.label}/shard-0`, 'other')).toBe(
    rig.checkpointOf(`shard/${rig.dynamo.label}/shard-0`, 'fold'),
  );
});

test('F22: the name of a fold of another table is refused', async () => {
  const rig = withShards(1);
  rig.start(NO_CENSUS);
  await rig.pass(1000);
  const stranger = rig.start({ ...NO_CENSUS, opsTable: 'leases' });
  await rig.pass(2000);
  expect(stranger.faults[0]).toBe('the fold "fold" follows the table "ops", not "leases": give this one another name');
  expect(stranger.leases).toEqual([]);
});

test('FLD-5: a worker that does not read for long gives its leases back, and takes some again when it does', async () => {
  const rig = withShards(2);
  const stuck = rig.start(NO_CENSUS);
  await rig.pass(1000);
  stuck.stop();
  await rig.pass(70_000);
  expect(shares(rig)).toEqual(new Map([['nobody', 2]]));
  await rig.during(stuck.feed.read(10, 10_000));
  expect(shares(rig)).toEqual(new Map([['worker-0', 2]]));
});

test('FLD-9: checkpoints are stored once a second at most, and with the last of them when the feed is closed', async () => {
  const rig = withShards(1);
  const worker = rig.start({ ...NO_CENSUS, checkpointMs: 1000 });
  await rig.pass(1000);
  const shard = rig.streams.shards.get('shard-0')!;
  const before = rig.dynamo.count('PutItem');
  for (let i = 0; i < 50; i++) {
    rig.streams.append(shard, 's', BigInt(i + 1));
    await rig.pass(200);
  }
  expect(rig.dynamo.count('PutItem') - before).toBeLessThanOrEqual(13);
  rig.streams.append(shard, 's', 99n);
  await rig.pass(300);
  await rig.during(worker.close());
  expect(worker.heads.get('s')).toBe(99n);
  expect(rig.checkpointOf(`shard/${rig.dynamo.label}/shard-0`)).toBe(shard.records.at(-1)?.sequence);
});
