import { DeleteItemCommand, DescribeTableCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import {
  DescribeStreamCommand,
  GetRecordsCommand,
  GetShardIteratorCommand,
  type ShardIteratorType,
} from '@aws-sdk/client-dynamodb-streams';
import { calm, stormy } from '../../dynamo/weather.ts';
import { SeededChoices } from '../../scheduler/choices.ts';
import { someOps } from '../../some-op.ts';
import { TABLE, World } from '../../world.ts';
import { SimStreams } from './sim-streams.ts';
import { DAY_MS, type StreamsWeather, calmStreams, stormyStreams } from './streams-weather.ts';

type Answer = Record<string, unknown>;
interface Listed {
  ShardId: string;
  ParentShardId?: string;
  SequenceNumberRange: { StartingSequenceNumber: string; EndingSequenceNumber?: string };
}
interface Got {
  eventName: string;
  dynamodb: { Keys: { stream_id: { S: string }; seq: { N: string } }; NewImage?: Answer; SequenceNumber: string };
}

/** A world with a stream on its table, and somebody who asks. */
class Subject {
  readonly world: World;
  readonly streams: SimStreams;
  readonly #client;

  constructor(weather: Partial<StreamsWeather> = {}, seed = 1, dynamo = calm) {
    this.world = new World({ choices: new SeededChoices(seed), ordering: 'timed', seed, weather: dynamo });
    this.streams = new SimStreams(this.world.dynamo, TABLE, { ...calmStreams, ...weather });
    this.#client = this.world.client(this.world.process('asker'));
  }

  /** The answer; a name of an error is thrown as it is. */
  async ask(command: object): Promise<Answer> {
    return this.until(this.#client.send(command as DescribeTableCommand) as Promise<unknown>) as Promise<Answer>;
  }

  async until<T>(work: Promise<T>): Promise<T> {
    const ended: { value?: T; error?: Error } = {};
    work.then(
      (value) => (ended.value = value),
      (error: Error) => (ended.error = error),
    );
    await this.world.scheduler.run(() => 'value' in ended || ended.error !== undefined);
    if (ended.error) throw ended.error;
    return ended.value as T;
  }

  async wait(ms: number): Promise<void> {
    const { scheduler } = this.world;
    const endMs = scheduler.nowMs + ms;
    scheduler.happen(ms, 'later', () => {});
    await scheduler.run(() => scheduler.nowMs >= endMs);
  }

  put(seq: number, value = 'x'): Promise<Answer> {
    const Item = { stream_id: { S: 's' }, seq: { N: String(seq) }, value: { S: value } };
    return this.ask(new PutItemCommand({ TableName: TABLE, Item }));
  }

  async shards(): Promise<Listed[]> {
    const found: Listed[] = [];
    for (let ExclusiveStartShardId: string | undefined; ;) {
      const input = { StreamArn: this.streams.current.arn, ...(ExclusiveStartShardId && { ExclusiveStartShardId }) };
      const { StreamDescription } = await this.ask(new DescribeStreamCommand(input));
      const { Shards, LastEvaluatedShardId } = StreamDescription as { Shards: Listed[]; LastEvaluatedShardId?: string };
      found.push(...Shards);
      if (LastEvaluatedShardId === undefined) return found;
      ExclusiveStartShardId = LastEvaluatedShardId;
    }
  }

  async iterator(ShardId: string, type: ShardIteratorType = 'TRIM_HORIZON', SequenceNumber?: string): Promise<string> {
    const input = { StreamArn: this.streams.current.arn, ShardId, ShardIteratorType: type };
    const answer = await this.ask(
      new GetShardIteratorCommand({ ...input, ...(SequenceNumber === undefined ? {} : { SequenceNumber }) }),
    );
    return answer['ShardIterator'] as string;
  }

  async page(ShardIterator: string): Promise<{ Records: Got[]; NextShardIterator?: string }> {
    return (await this.ask(new GetRecordsCommand({ ShardIterator }))) as { Records: Got[]; NextShardIterator?: string };
  }

  /** A closed shard to its end, an open one until so many pages in a row were empty. */
  async drain(shardId: string, patience = 20): Promise<Got[]> {
    const all: Got[] = [];
    let iterator: string | undefined = await this.iterator(shardId);
    for (let empty = 0; iterator !== undefined && empty < patience;) {
      const page = await this.page(iterator);
      all.push(...page.Records);
      empty = page.Records.length === 0 ? empty + 1 : 0;
      iterator = page.NextShardIterator;
    }
    return all;
  }

  /** Parents first. */
  async drainAll(): Promise<Got[]> {
    const all: Got[] = [];
    for (const { id } of this.streams.current.shards) all.push(...(await this.drain(id)));
    return all;
  }
}

const keys = (records: readonly Got[]) => records.map(({ dynamodb }) => Number(dynamodb.Keys.seq.N));

test('each change is a record once, in order for each item, with its new image; a write that changes nothing is none', async () => {
  const subject = new Subject();
  await subject.put(1, 'a');
  await subject.put(1, 'a');
  await subject.put(1, 'b');
  await subject.ask(new DeleteItemCommand({ TableName: TABLE, Key: { stream_id: { S: 's' }, seq: { N: '1' } } }));
  const [shard] = await subject.shards();
  const records = await subject.drain(shard!.ShardId);
  expect(records.map(({ eventName }) => eventName)).toEqual(['INSERT', 'MODIFY', 'REMOVE']);
  expect(records.map(({ dynamodb }) => dynamodb.NewImage?.['value'])).toEqual([{ S: 'a' }, { S: 'b' }, undefined]);
});

test('records of one transaction come apart and among others; whoever reads a lineage in order has every change, once', async () => {
  const subject = new Subject({ ...stormyStreams, limited: 0, propagateMs: [1, 2000] }, 3, {
    ...stormy,
    lostRequest: 0,
    lateRequest: 0,
    throttle: 0,
  });
  const relay = subject.world.relay('relay', { maxOpsPerRound: 5 });
  for (let i = 0; i < 12; i++) {
    const { open } = subject.streams.current;
    const shard = open[i % open.length]!;
    if (i % 4 === 1) subject.streams.current.split(shard, 's', BigInt(2 * i));
    if (i % 4 === 3) subject.streams.current.roll(shard);
    await subject.until(relay.push('s', someOps(`o${i}-`, 4)));
  }
  await subject.wait(60_000);
  const records = await subject.drainAll();
  const ops = keys(records).filter((seq) => seq > 0);
  expect(ops.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 48 }, (_, i) => i + 1));
  const counters = records.filter(({ dynamodb }) => dynamodb.Keys.seq.N === '0');
  const heads = counters.map(({ dynamodb }) => Number((dynamodb.NewImage?.['next_seq'] as { N: string }).N));
  expect(heads).toEqual(heads.toSorted((a, b) => a - b));
  const { reordered, split, rolled, delayed, emptyPage } = subject.streams.anomalies;
  expect([reordered, split, rolled, delayed, emptyPage].map((n) => n > 0)).toEqual([true, true, true, true, true]);
  expect(subject.streams.violations).toEqual([]);
});

test('after a split the items of one partition key are in two shards, which name the parent; an empty page is no end', async () => {
  const subject = new Subject();
  await subject.put(1);
  await subject.wait(100);
  subject.streams.current.split(subject.streams.current.open[0]!, 's', 10n);
  for (const seq of [11, 2, 12]) await subject.put(seq);
  await subject.wait(100);
  const shards = await subject.shards();
  const parent = shards.find(({ ParentShardId }) => ParentShardId === undefined)!;
  expect(parent.SequenceNumberRange.EndingSequenceNumber).toBeDefined();
  const children = shards.filter(({ ParentShardId }) => ParentShardId === parent.ShardId);
  expect(children.map(({ SequenceNumberRange }) => SequenceNumberRange.EndingSequenceNumber)).toEqual([
    undefined,
    undefined,
  ]);
  expect(keys(await subject.drain(parent.ShardId))).toEqual([1]);
  const both = new Set<string>();
  for (const { ShardId } of children)
    both.add(
      keys(await subject.drain(ShardId))
        .sort()
        .join(),
    );
  expect(both).toEqual(new Set(['2', '11,12']));
});

test('DescribeStream has pages, names shards late and leaves some out now and then', async () => {
  const subject = new Subject({ describeShardsMax: 3, omitted: 0.3, listMs: [0, 1000] });
  for (let i = 0; i < 8; i++) subject.streams.current.roll(subject.streams.current.open[0]!);
  const first = await subject.shards();
  for (let i = 0; i < 10; i++) {
    await subject.wait(100);
    await subject.shards();
  }
  const seen = new Set<string>();
  let complete = 0;
  for (let i = 0; i < 60; i++) {
    const listed = await subject.shards();
    if (listed.length === 9) complete++;
    for (const { ShardId } of listed) seen.add(ShardId);
  }
  expect(first.length).toBeLessThan(9);
  expect(seen.size).toBe(9);
  expect([complete > 0, complete < 60]).toEqual([true, true]);
  expect(subject.streams.anomalies.lineage).toBeGreaterThan(0);
});

test('an iterator is of no use after 15 minutes; one after the last number read goes on without a gap', async () => {
  const subject = new Subject();
  for (const seq of [1, 2, 3]) await subject.put(seq);
  await subject.wait(100);
  const [shard] = await subject.shards();
  const iterator = await subject.iterator(shard!.ShardId);
  const { Records } = await subject.page(iterator);
  await subject.wait(15 * 60_000);
  await expect(subject.page(iterator)).rejects.toMatchObject({ name: 'ExpiredIteratorException' });
  const after = await subject.iterator(shard!.ShardId, 'AFTER_SEQUENCE_NUMBER', Records[1]!.dynamodb.SequenceNumber);
  expect(keys((await subject.page(after)).Records)).toHaveLength(1);
});

test('after 24 hours records are gone, positions at them are refused, and closed shards vanish', async () => {
  const subject = new Subject();
  await subject.put(1);
  const [shard] = await subject.shards();
  await subject.wait(100);
  const { Records } = await subject.page(await subject.iterator(shard!.ShardId));
  await subject.put(2);
  subject.streams.current.roll(subject.streams.current.open[0]!);
  await subject.put(3);
  await subject.wait(DAY_MS + 1000);
  await subject.put(4);
  await subject.wait(100);
  expect(await subject.shards()).toMatchObject([{ ParentShardId: shard!.ShardId }]);
  await expect(subject.iterator(shard!.ShardId)).rejects.toMatchObject({ name: 'ResourceNotFoundException' });
  expect(Records).toHaveLength(1);
  expect(keys(await subject.drainAll())).toEqual([4]);
  expect(subject.streams.anomalies.trimmed).toBeGreaterThan(0);
});

test('a position at a trimmed record is refused, when the iterator is made or when it is used', async () => {
  for (const seed of [1, 2, 3, 4]) {
    const subject = new Subject({}, seed);
    await subject.put(1);
    const [shard] = await subject.shards();
    await subject.wait(100);
    const old = await subject.iterator(shard!.ShardId);
    const { Records } = await subject.page(old);
    await subject.wait(DAY_MS + 1000);
    const asked = subject
      .iterator(shard!.ShardId, 'AFTER_SEQUENCE_NUMBER', Records[0]!.dynamodb.SequenceNumber)
      .then((iterator) => subject.page(iterator));
    await expect(asked).rejects.toMatchObject({ name: 'TrimmedDataAccessException' });
    await subject.put(2);
    await subject.wait(100);
    expect(keys((await subject.page(await subject.iterator(shard!.ShardId))).Records)).toEqual([2]);
  }
});

test('a stream that is enabled again has a new name, and nothing of the time between', async () => {
  const subject = new Subject();
  const named = async () => {
    const { Table } = await subject.ask(new DescribeTableCommand({ TableName: TABLE }));
    return (Table as { LatestStreamArn: string }).LatestStreamArn;
  };
  const before = await named();
  await subject.put(1);
  await subject.wait(100);
  const [shard] = await subject.shards();
  subject.streams.disable();
  await subject.put(2);
  await subject.wait(100);
  subject.streams.enable();
  await subject.put(3);
  await subject.wait(100);
  expect(await named()).not.toBe(before);
  expect(keys(await subject.drain((await subject.shards())[0]!.ShardId))).toEqual([3]);
  const StreamArn = before;
  const { ShardIterator } = await subject.ask(
    new GetShardIteratorCommand({ StreamArn, ShardId: shard!.ShardId, ShardIteratorType: 'TRIM_HORIZON' }),
  );
  const { Records, NextShardIterator } = await subject.page(ShardIterator as string);
  expect([keys(Records), NextShardIterator]).toEqual([[1], undefined]);
});

test('the third reader of a shard within a second is refused, and readers take over from each other', async () => {
  const subject = new Subject();
  await subject.put(1);
  await subject.wait(100);
  const [shard] = await subject.shards();
  const iterator = await subject.iterator(shard!.ShardId);
  const answers: string[] = [];
  for (const name of ['a', 'b', 'c']) {
    const client = subject.world.client(subject.world.process(name));
    const command = new GetRecordsCommand({ ShardIterator: iterator }) as unknown as DescribeTableCommand;
    void client.send(command).then(
      () => answers.push('answered'),
      (error: Error) => answers.push(error.name),
    );
  }
  await subject.wait(2000);
  expect(answers.sort()).toEqual(['LimitExceededException', 'answered', 'answered']);
  expect(subject.streams.anomalies.limited).toBeGreaterThan(0);
  expect(subject.streams.anomalies.handOver).toBeGreaterThan(0);
  expect(subject.streams.anomalies.repeated).toBe(1);
});

test('whoever begins at LATEST, or reads a child before its parent, is told of', async () => {
  const subject = new Subject();
  await subject.put(1);
  await subject.wait(100);
  subject.streams.current.roll(subject.streams.current.open[0]!);
  await subject.put(2);
  await subject.wait(100);
  const [parent, child] = subject.streams.current.shards;
  await subject.page(await subject.iterator(child!.id));
  await subject.iterator(child!.id, 'LATEST');
  expect(subject.streams.violations).toEqual([
    expect.stringContaining(`before its parent ${parent!.id}`),
    expect.stringContaining('LATEST'),
  ]);
});
