import type { Feed } from '@tidemark/libs-feed-contract';
import { ManualTime, SeededRandom } from '@tidemark/libs-kernel/testing';
import { dynamodbStreamsFeed } from './feed.ts';
import type { DynamodbStreamsFeedOptions } from './options.ts';
import type { LeaseEvent, RecordKind, ShardEvent } from './report.ts';
import { awsError, type SpecCall, SpecDynamo } from './spec-dynamo.ts';
import { SpecLife } from './spec-mortal.ts';
import { SpecStreams } from './spec-streams.ts';

const STEP_MS = 50;

/** One worker on a feed, as simple as can be: it reads, and says that it has stored what it read. */
export class SpecWorker {
  readonly feed: Feed;
  /** Highest head of each stream. */
  readonly heads = new Map<string, bigint>();
  /** What each batch named. */
  readonly heard: { readonly stream: string; readonly head: bigint }[] = [];
  readonly faults: string[] = [];
  readonly leases: LeaseEvent[] = [];
  readonly shards: ShardEvent[] = [];
  readonly kinds = new Map<RecordKind, number>();
  readonly logged: { readonly level: string; readonly message: string; readonly fields: object }[] = [];
  /** Whether what was read is stored, and its position checkpointed. */
  stores = true;
  readonly #life = new SpecLife();
  #isOn = true;

  constructor(rig: SpecRig, options: Partial<DynamodbStreamsFeedOptions>) {
    const note = (level: string) => (fields: object, message: string) =>
      void this.logged.push({ level, message, fields });
    this.feed = dynamodbStreamsFeed({
      client: this.#life.client(rig.dynamo.client),
      streams: this.#life.client(rig.streams.client),
      opsTable: rig.dynamo.opsTable,
      leasesTable: rig.dynamo.leasesTable,
      name: 'fold',
      workerId: `worker-${rig.workers.length}`,
      clock: rig.time,
      sleeper: rig.time,
      random: new SeededRandom(rig.workers.length + 1),
      log: { info: note('info'), warn: note('warn'), error: note('error') },
      metrics: {
        call() {},
        records: (kind, count) => void this.kinds.set(kind, (this.kinds.get(kind) ?? 0) + count),
        shard: (event) => void this.shards.push(event),
        lease: (event) => void this.leases.push(event),
        held() {},
        recordAgeMs() {},
        census() {},
      },
      segments: 1,
      checkpointMs: 0,
      ...options,
    });
    void this.#run();
  }

  /** It runs on, and no call of it goes out or is answered, until wakeCalls. */
  pauseCalls(): void {
    this.#life.pause();
  }

  wakeCalls(): void {
    this.#life.goOn();
  }

  /** Calls that do not arrive: those to the leases table. */
  set cutLeases(isCut: boolean) {
    this.onCall = ({ input }) => {
      if (isCut && (input as { TableName?: string }).TableName === 'leases') throw awsError('TimeoutError');
    };
  }

  set onCall(look: (call: SpecCall) => void) {
    const before = this.#life.onCall;
    this.#life.onCall = (call) => {
      before(call);
      look(call);
    };
  }

  /** Reads no more. */
  stop(): void {
    this.#isOn = false;
  }

  /** Stops as a killed process does: nothing that it sent is answered any more. */
  die(): void {
    this.#isOn = false;
    this.#life.isDead = true;
  }

  async close(): Promise<void> {
    this.#isOn = false;
    await this.feed.close();
  }

  async #run(): Promise<void> {
    while (this.#isOn) {
      try {
        const { changes, position } = await this.feed.read(100, 500);
        for (const { stream, head } of changes) {
          this.heard.push({ stream, head });
          if (head > (this.heads.get(stream) ?? 0n)) this.heads.set(stream, head);
        }
        if (this.stores) await this.feed.checkpoint(position);
      } catch (thrown) {
        this.faults.push((thrown as Error).message);
        await this.pause();
      }
    }
  }

  /** Replaced by the rig. */
  pause: () => Promise<void> = async () => {};
}

/** Workers of one fold on a table, a stream and a leases table in memory. Time passes by pass() alone. */
export class SpecRig {
  readonly time = new ManualTime();
  readonly dynamo = new SpecDynamo();
  readonly streams = new SpecStreams(this.time);
  readonly workers: SpecWorker[] = [];

  start(options: Partial<DynamodbStreamsFeedOptions> = {}): SpecWorker {
    const worker = new SpecWorker(this, options);
    worker.pause = () => this.time.sleep(200);
    this.workers.push(worker);
    return worker;
  }

  async pass(ms: number): Promise<void> {
    await settled();
    for (let passed = 0; passed < ms; passed += STEP_MS) {
      this.time.advance(Math.min(STEP_MS, ms - passed));
      await settled();
    }
  }

  /** The promise, while time passes. */
  async during<T>(promise: Promise<T>): Promise<T> {
    let isOver = false;
    const watched = promise.finally(() => (isOver = true));
    watched.catch(() => {});
    while (!isOver) await this.pass(STEP_MS);
    return watched;
  }

  /** An op of the table, with its counter; `shard` gets its record. */
  op(stream: string, seq: bigint): void {
    this.dynamo.put('ops', { stream_id: { S: stream }, seq: { N: String(seq) } });
    this.dynamo.put('ops', { stream_id: { S: stream }, seq: { N: '0' }, next_seq: { N: String(seq) } });
  }

  checkpointOf(leaseKey: string, fold = 'fold'): string | undefined {
    return this.dynamo.leases(fold).get(leaseKey)?.['checkpoint']?.S;
  }

  shardRow(id: string, fold = 'fold') {
    return this.dynamo.leases(fold).get(`shard/${this.dynamo.label}/${id}`);
  }
}

/** Lets everything run that waits for nothing but its turn. */
const settled = () => new Promise<void>((resolve) => setImmediate(resolve));
