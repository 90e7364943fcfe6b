import { awsError } from './spec-dynamo.ts';
import { SpecRig } from './spec-rig.ts';

/** Nothing in the table, so that the stream alone names streams; the first turns are over. */
async function started(prepare: (rig: SpecRig) => void = () => {}, options = {}) {
  const rig = new SpecRig();
  prepare(rig);
  const worker = rig.start({ censusMs: 0, ...options });
  await rig.pass(500);
  return { rig, worker };
}

test('F4, F19, FLD-4: a new shard is read from its start, whoever finds it and whenever', async () => {
  const { rig, worker } = await started((rig) => rig.streams.append(rig.streams.shard('a'), 's', 1n));
  expect(worker.heads).toEqual(new Map([['s', 1n]]));
  const late = rig.streams.shard('b');
  rig.streams.append(late, 't', 1n);
  await rig.pass(31_000);
  expect(worker.heads.get('t')).toBe(1n);
  // F20: never from the newest record on, which loses what comes while a reader starts.
  expect(rig.streams.iterators().map((one) => one.ShardIteratorType)).toEqual(['TRIM_HORIZON', 'TRIM_HORIZON']);
});

test('F4, F7, FLD-9: what was read and not stored comes again from the sequence number of the last that was', async () => {
  const { rig, worker } = await started();
  const shard = rig.streams.shard('a');
  rig.streams.append(shard, 'stored', 1n);
  await rig.pass(32_000);
  worker.stores = false;
  rig.streams.append(shard, 'lost', 1n);
  await rig.pass(2000);
  expect(worker.heads.get('lost')).toBe(1n);
  expect(rig.checkpointOf(`shard/${rig.dynamo.label}/a`)).toBe(shard.records[0]?.sequence);
  worker.die();
  // What was trimmed meanwhile does not move a place that is a number.
  rig.streams.append(shard, 'later', 1n);
  const next = rig.start({ censusMs: 0 });
  await rig.pass(40_000);
  expect([...next.heads.keys()]).toEqual(['lost', 'later']);
  expect(rig.streams.iterators().at(-1)?.SequenceNumber).toBe(shard.records[0]?.sequence);
});

test('FLD-4: a child is read when its parent is, and every effect of the parent is stored', async () => {
  const { rig, worker } = await started((rig) => {
    const parent = rig.streams.shard('parent');
    rig.streams.append(parent, 's', 1n);
    rig.streams.append(rig.streams.shard('child', 'parent'), 's', 2n);
  });
  worker.stores = false;
  const parent = rig.streams.shards.get('parent')!;
  rig.streams.append(parent, 't', 1n);
  parent.isClosed = true;
  await rig.pass(5000);
  expect(worker.heads).toEqual(new Map([['s', 1n], ['t', 1n]])); // prettier-ignore
  expect(rig.streams.readsOf()).not.toContain('child');
  worker.stores = true;
  await rig.pass(5000);
  expect(worker.heads.get('s')).toBe(2n);
  expect(rig.shardRow('parent')).toMatchObject({ checkpoint: { S: 'SHARD_END' } });
  expect(rig.shardRow('parent')?.['leaseOwner']).toBeUndefined();
});

test('FLD-4, F11: splits and rolls are followed at once, through shards that hold nothing', async () => {
  const { rig, worker } = await started((rig) => rig.streams.shard('a'));
  const close = (id: string) => (rig.streams.shards.get(id)!.isClosed = true);
  rig.streams.shard('a1', 'a');
  rig.streams.shard('a2', 'a');
  const grandchild = rig.streams.shard('a11', 'a1');
  for (const id of ['a', 'a1']) close(id);
  rig.streams.append(rig.streams.shards.get('a2')!, 'right', 1n);
  rig.streams.append(grandchild, 'left', 1n);
  await rig.pass(6000);
  expect(worker.heads).toEqual(new Map([['right', 1n], ['left', 1n]])); // prettier-ignore
});

test('FLD-4, F11: children that are listed long after their parent ended are found', async () => {
  const { rig, worker } = await started((rig) => rig.streams.shard('a'));
  rig.streams.shards.get('a')!.isClosed = true;
  await rig.pass(20_000);
  rig.streams.append(rig.streams.shard('b', 'a'), 's', 1n);
  await rig.pass(31_000);
  expect(worker.heads.get('s')).toBe(1n);
});

// kills: lineage.ts: if (checkpoint === SHARD_END) return false; => void 0;
test('F8: a finished shard that is still listed is not read again after a restart', async () => {
  const { rig, worker } = await started((rig) => {
    const parent = rig.streams.shard('parent');
    rig.streams.append(parent, 's', 1n);
    parent.isClosed = true;
    rig.streams.shard('child', 'parent');
  });
  await rig.pass(5000);
  await rig.during(worker.close());
  rig.streams.sent.length = 0;
  const next = rig.start({ censusMs: 0 });
  await rig.pass(35_000);
  expect(rig.streams.readsOf()).not.toContain('parent');
  expect(rig.streams.readsOf()).toContain('child');
  expect(next.heads.size).toBe(0);
});

// kills: shard-reader.ts: if (this.#iterator === null) return => if (this.#iterator === null || Records.length === 0) return
test('F17, FLD-4: empty pages are not the end, and lead on', async () => {
  const { rig, worker } = await started((rig) => {
    const shard = rig.streams.shard('a');
    shard.emptyPages = 40;
    rig.streams.append(shard, 's', 1n);
  });
  await rig.pass(40_000);
  expect(worker.heads.get('s')).toBe(1n);
  expect(rig.streams.iterators().length).toBe(1);
});

test('FLD-4: the end of a sequence range is not the end of a shard', async () => {
  const { rig, worker } = await started((rig) => {
    const shard = rig.streams.shard('a');
    rig.streams.append(shard, 's', 1n);
  });
  rig.streams.append(rig.streams.shards.get('a')!, 's', 2n);
  await rig.pass(2000);
  expect(worker.heads.get('s')).toBe(2n);
});

// kills: shard-reader.ts: SequenceNumber: this.#at }; => SequenceNumber: '0' };
test('F5: an iterator that expired is followed by one behind the last record that was read, and nothing is read twice', async () => {
  const { rig, worker } = await started((rig) => rig.streams.append(rig.streams.shard('a'), 's', 1n));
  worker.heard.length = 0;
  const shard = rig.streams.shards.get('a')!;
  for (const seq of [2n, 3n]) {
    rig.time.advance(16 * 60_000);
    rig.streams.append(shard, 's', seq);
    await rig.pass(5000);
  }
  expect(worker.heard).toEqual([{ stream: 's', head: 2n }, { stream: 's', head: 3n }]); // prettier-ignore
  expect(worker.shards.filter((event) => event === 'iterator_expired').length).toBe(2);
  expect(rig.streams.iterators().length).toBe(3);
});

test('F5: iterators that expire at once lead to no storm', async () => {
  const { rig, worker } = await started((rig) => rig.streams.append(rig.streams.shard('a'), 's', 1n));
  rig.streams.between = async ({ name }, pass) => {
    if (name === 'GetRecords') throw awsError('ExpiredIteratorException');
    return pass();
  };
  const before = rig.streams.count('GetRecords');
  await rig.pass(30_000);
  expect(rig.streams.count('GetRecords') - before).toBeLessThan(20);
  rig.streams.between = (_, pass) => pass();
  rig.streams.append(rig.streams.shards.get('a')!, 's', 2n);
  await rig.pass(11_000);
  expect(worker.heads.get('s')).toBe(2n);
});

test('F10: 350 shards in 4 pages, children beside open parents and before them, are all found and read', async () => {
  const { rig, worker } = await started((rig) => {
    for (let i = 0; i < 350; i++) {
      // Every third has an open parent that stands behind it.
      const shard = rig.streams.shard(`shard-${i}`, i % 3 === 0 && i < 349 ? `shard-${i + 1}` : null);
      rig.streams.append(shard, `s${i}`, 1n);
    }
  });
  expect(rig.streams.count('DescribeStream')).toBe(4);
  await rig.pass(5000);
  expect(worker.heads.size).toBe(233);
  for (const { id } of [...rig.streams.shards.values()]) rig.streams.shards.get(id)!.isClosed = true;
  await rig.pass(15_000);
  expect(worker.heads.size).toBe(350);
  expect(worker.faults).toEqual([]);
});

test('F23: records of other items are counted, and name nothing', async () => {
  const { worker } = await started((rig) => {
    const shard = rig.streams.shard('a');
    for (const seq of [-5n, 0n, 7n]) rig.streams.append(shard, 's', seq);
  });
  expect(worker.heads).toEqual(new Map([['s', 7n]]));
  expect(worker.kinds).toEqual(new Map([['claim', 1], ['counter', 1], ['op', 1]])); // prettier-ignore
});

test.each(['LimitExceededException', 'ProvisionedThroughputExceededException', 'InternalServerError', 'TimeoutError'])(
  'FLD-4: after %s of one shard it is asked less often, others go on, and nothing is lost',
  async (name) => {
    const { rig, worker } = await started((rig) => {
      rig.streams.append(rig.streams.shard('bad'), 's', 1n);
      rig.streams.shard('good');
    });
    let isBad = true;
    let asked = 0;
    rig.streams.between = async (call, pass) => {
      const id = call.name === 'GetRecords' ? JSON.parse(call.input.ShardIterator).id : call.input.ShardId;
      if (!isBad || id !== 'bad') return pass();
      asked++;
      throw awsError(name);
    };
    rig.streams.append(rig.streams.shards.get('bad')!, 's', 2n);
    rig.streams.append(rig.streams.shards.get('good')!, 't', 1n);
    await rig.pass(20_000);
    expect(worker.heads).toEqual(new Map([['s', 1n], ['t', 1n]])); // prettier-ignore
    expect(asked).toBeLessThan(15);
    isBad = false;
    await rig.pass(11_000);
    expect(worker.heads.get('s')).toBe(2n);
  },
);

test('FLD-4: a read says that nothing can be read while nothing can, and goes on by itself', async () => {
  const { rig, worker } = await started((rig) => rig.streams.append(rig.streams.shard('a'), 's', 1n));
  rig.streams.between = async () => {
    throw awsError('InternalServerError');
  };
  await rig.pass(3000);
  expect(worker.faults.at(-1)).toMatch(/cannot do it now/);
  await expect(worker.feed.ping()).rejects.toMatchObject({ code: 'unavailable' });
  rig.streams.between = (_, pass) => pass();
  rig.streams.append(rig.streams.shards.get('a')!, 's', 2n);
  await rig.pass(11_000);
  expect(worker.heads.get('s')).toBe(2n);
  await worker.feed.ping();
});

test('F20, FLD-4: a shard that gets nothing is asked once a second, one under load five times as often, a full page at once', async () => {
  const { rig, worker } = await started((rig) => rig.streams.shard('a'));
  await rig.pass(5000);
  const calls = async (ms: number) => {
    const before = rig.streams.count('GetRecords');
    await rig.pass(ms);
    return rig.streams.count('GetRecords') - before;
  };
  expect(await calls(20_000)).toBe(20);
  const shard = rig.streams.shards.get('a')!;
  for (let i = 0n; i < 3000n; i++) rig.streams.append(shard, `s${i % 50n}`, i + 1n);
  await rig.pass(1000);
  expect(worker.heads.get('s49')).toBe(3000n);
  let busy = 0;
  for (let i = 0; i < 20; i++) {
    rig.streams.append(shard, 's', BigInt(i + 1));
    busy += await calls(200);
  }
  expect(busy).toBeGreaterThanOrEqual(15);
});

test('OPS-4: nothing is fetched while nobody reads on, and nothing is lost by that', async () => {
  const { rig, worker } = await started((rig) => rig.streams.shard('a'));
  worker.stop();
  await rig.pass(2000);
  const before = rig.streams.count('GetRecords');
  rig.streams.append(rig.streams.shards.get('a')!, 's', 1n);
  await rig.pass(20_000);
  expect(rig.streams.count('GetRecords')).toBe(before);
  expect((await rig.during(worker.feed.read(10, 5000))).changes).toEqual([{ stream: 's', head: 1n }]);
});

test('F16: records that are read half a day late are told of, once in a while', async () => {
  const rig = new SpecRig();
  const shard = rig.streams.shard('a');
  const worker = rig.start({ censusMs: 0 });
  await rig.pass(500);
  for (const [hours, seq] of [
    [1, 1n],
    [13, 2n],
    [13, 3n],
  ] as const) {
    // prettier-ignore
    rig.streams.append(shard, 's', seq, new Date(rig.time.now() - hours * 3_600_000));
    await rig.pass(2000);
  }
  const told = worker.logged.filter(({ level }) => level === 'warn');
  expect(told.map(({ message }) => message)).toEqual(['records are read late; DynamoDB trims them after 24 hours']);
});
