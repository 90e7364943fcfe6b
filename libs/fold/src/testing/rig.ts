import type { Feed, FeedBatch } from '@tidemark/libs-feed-contract';
import { MemoryChangeLog, MemoryFeed } from '@tidemark/libs-feed-contract/testing';
import { ManualTime, SeededRandom } from '@tidemark/libs-kernel/testing';
import type { ReadPage, SeenOp } from '@tidemark/libs-op-store-contract';
import { anOp, MemoryOpLog, MemoryOpStore } from '@tidemark/libs-op-store-contract/testing';
import type { Member, Views } from '@tidemark/libs-views-contract';
import { MemoryViews, MemoryViewsStore } from '@tidemark/libs-views-contract/testing';
import type { Op } from '@tidemark/libs-wire';
import { eventReducer } from '../event-reducer.ts';
import { FoldWorker, type FoldWorkerOptions } from '../fold-worker.ts';
import { Reducers } from '../reduce.ts';
import type { EpochEvent, SeqEnd } from '../report.ts';
import { revisionsOf } from '../revisions.ts';
import { emptyWatermark } from '../watermark.ts';

/** Of the reducers that a rig's workers have unless told otherwise. */
export const REVISIONS = revisionsOf([eventReducer]);

/** Time that passes only in sleeps, and then at once: nothing in a test waits. */
export class LeapingTime extends ManualTime {
  override sleep(ms: number): Promise<void> {
    this.advance(ms);
    return Promise.resolve();
  }
}

/** A log that does not show all it holds: ops on their way, and holes that nothing can be proved of. */
export class HoldingOpStore extends MemoryOpStore {
  /** By stream: the first seq that nobody is shown yet. */
  readonly unshownFrom = new Map<string, bigint>();
  /** By stream: single seqs that nobody is shown yet. */
  readonly unshown = new Map<string, Set<bigint>>();
  /** No seq is proved burned, as on a table that ADD-allocating writers still write. */
  holdsHoles = false;
  /** By stream: the highest seq given, where that is above the newest op. */
  readonly heads = new Map<string, bigint>();

  override async read(stream: string, after: bigint, limit: number, bytesMax?: number): Promise<ReadPage> {
    const page = await super.read(stream, after, limit, bytesMax);
    let next = after;
    const ops = [];
    for (const one of page.ops) {
      if (!this.#isShown(stream, one.seq) || (this.holdsHoles && one.seq !== next + 1n)) break;
      ops.push(one);
      next = one.seq;
    }
    return { ops, next };
  }

  override async readAhead(
    stream: string,
    after: bigint,
    limit: number,
    bytesMax?: number,
  ): Promise<readonly SeenOp[]> {
    const seen = await super.readAhead(stream, after, limit, bytesMax);
    return seen.filter(({ seq }) => this.#isShown(stream, seq));
  }

  override async burnedThrough(stream: string, after: bigint): Promise<bigint> {
    return this.holdsHoles ? after : super.burnedThrough(stream, after);
  }

  protected override headOf(stream: string): bigint {
    const [given, newest] = [this.heads.get(stream) ?? 0n, super.headOf(stream)];
    return given > newest ? given : newest;
  }

  #isShown(stream: string, seq: bigint): boolean {
    return seq < (this.unshownFrom.get(stream) ?? 2n ** 63n) && !this.unshown.get(stream)?.has(seq);
  }
}

/** Gives a few changes at a time, so that one test has many positions. */
export class SmallBatchFeed extends MemoryFeed {
  override read(max: number, waitMs: number, signal?: AbortSignal): Promise<FeedBatch> {
    return super.read(Math.min(max, 4), waitMs, signal);
  }
}

/** What the workers of a test share, and what the test looks at. */
export class Rig {
  readonly opLog = new MemoryOpLog();
  readonly opStore = new HoldingOpStore(this.opLog);
  readonly changes = new MemoryChangeLog();
  readonly viewsStore = new MemoryViewsStore();
  readonly views: Views = new MemoryViews(this.viewsStore);
  readonly time: ManualTime;
  readonly logged: { readonly fields: object; readonly message: string }[] = [];
  readonly #folds = new Map<string, Map<string, Member>>();
  readonly counted = { folded: 0, not_folded: 0, parked: 0, replayed: 0, conflicts: 0, bounds: 0 };
  readonly seqs: Partial<Record<SeqEnd, number>> = {};
  readonly epochs: EpochEvent[] = [];

  constructor(time: ManualTime = new LeapingTime()) {
    this.time = time;
  }

  worker(options: Partial<FoldWorkerOptions> = {}): FoldWorker {
    const tell = (fields: object, message: string) => void this.logged.push({ fields, message });
    return new FoldWorker({
      feed: this.feed(),
      opStore: this.opStore,
      views: this.views,
      reducers: [eventReducer],
      clock: this.time,
      sleeper: this.time,
      random: new SeededRandom(1),
      log: { info: tell, warn: tell },
      metrics: {
        ops: (outcome, count) => void (this.counted[outcome] += count),
        replayed: (count) => void (this.counted.replayed += count),
        seqs: (end, count) => void (this.seqs[end] = (this.seqs[end] ?? 0) + count),
        epoch: (event) => void this.epochs.push(event),
        conflict: () => void this.counted.conflicts++,
        bound: () => void this.counted.bounds++,
      },
      pageOpsMax: 2,
      sweepMs: 0,
      ...options,
    });
  }

  feed(): Feed {
    return new SmallBatchFeed(this.changes, this.time);
  }

  /** Appends without ringing. */
  async append(stream: string, ...ops: Op[]): Promise<void> {
    await this.opStore.append(stream, ops);
  }

  async ring(stream: string): Promise<void> {
    this.changes.announce(stream, await this.opStore.head(stream));
  }

  async foldedThrough(stream: string): Promise<bigint> {
    return (await this.views.mark(stream))?.watermark.foldedThrough ?? 0n;
  }

  /** Throws unless the mark of every stream is true: each op at or below it has its effect, or more, in the rows (FLD-1). */
  async assertMarksAreTrue(): Promise<void> {
    for (const stream of this.opLog.streams.keys()) {
      const through = await this.foldedThrough(stream);
      for (const [id, wanted] of await this.fold(stream, through)) {
        const stored = this.#stored(stream, id);
        if (!stored || stored.version.lamport < wanted.version.lamport) {
          throw new Error(`the mark of ${stream} is ${through}, and ${id} is not folded that far`);
        }
      }
    }
  }

  /** The bodies that a fold of the whole log gives, by the id of the event. */
  async fold(stream: string, through = 2n ** 63n): Promise<Map<string, Member>> {
    const ops = (this.opLog.streams.get(stream)?.ops ?? []).filter(({ seq }) => seq <= through);
    const key = JSON.stringify([stream, ops.length]);
    const known = this.#folds.get(key);
    if (known) return known;
    const reducers = new Reducers([eventReducer]);
    const reference = new MemoryViews();
    await reference.saveMark(stream, 1, emptyWatermark(), 0, new Map());
    for (const sequenced of ops) {
      // One that cannot be read is parked.
      if (!sequenced.op.extra.endsWith('}')) continue;
      const reduced = reducers.reduce(sequenced);
      if (reduced.kind === 'folded') await reference.apply(stream, 1, reduced.changes);
    }
    const fold = await bodies(reference, stream);
    this.#folds.set(key, fold);
    return fold;
  }

  bodies(stream: string): Promise<Map<string, Member>> {
    return bodies(this.views, stream);
  }

  /** Also before a mark shows it. */
  #stored(stream: string, id: string): Member | undefined {
    const fields = this.viewsStore.rows.get(JSON.stringify([stream, 1, 'events']))?.get(id);
    return fields?.get('body')?.members.get('') ?? undefined;
  }
}

async function bodies(views: Views, stream: string): Promise<Map<string, Member>> {
  const { documents } = await views.documents(stream, 'events', null, 10_000);
  return new Map(documents.map(({ id, fields }) => [id, fields.get('body')!.members.get('')!]));
}

export function anEvent(id: string, lamport: number | bigint, fields: Partial<Op> = {}): Op {
  const event = { domain: 'event', targetKind: 'events', targetId: id, field: 'body', opType: 'set', site: 0n };
  return anOp({ ...event, opId: `${id}@${lamport}`, lamport: BigInt(lamport), value: `{"v":${lamport}}`, ...fields });
}

/** Ticks until nothing is left to do. */
export async function settle(worker: FoldWorker, ticksMax = 200): Promise<void> {
  for (let tick = 0; tick < ticksMax; tick++) {
    const { changes, feedFault } = await worker.tick();
    if (changes === 0 && !feedFault && worker.status().pending === 0) return;
  }
  throw new Error(
    `not settled: ${JSON.stringify(worker.status(), (_, value) => (typeof value === 'bigint' ? String(value) : value))}`,
  );
}
