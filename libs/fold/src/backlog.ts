import type { FeedBatch } from '@tidemark/libs-feed-contract';

/** A stream that has, or may have, ops above its mark. */
export interface Task {
  readonly stream: string;
  /** Highest seq that a doorbell named. */
  head: bigint;
  /**
   * The oldest batch that named it and is not served: no position at or behind that batch may be checkpointed. Infinity: no batch did.
   */
  sinceBatch: number;
  /** On the monotonic clock, like the next two. */
  readonly heardAtMs: number;
  /** Not worked on before. */
  dueAtMs: number;
  /** What brought nothing is not tried again before. */
  retryAtMs: number;
  /** Turns in a row that brought nothing. */
  attempt: number;
  /** How far the stream is known to be folded; 0 before its first turn. */
  foldedThrough: bigint;
  /** Ops above that which are folded too. */
  aheadOps: bigint;
  /** Why the last turn brought nothing; null while all is well. */
  trouble: Trouble | null;
  /** It was said that it waits for very long. */
  isAlarmed: boolean;
}

export interface Trouble {
  /** `held`: something is known above `foldedThrough`, and is not there yet. `others`: workers with other reducers have to fold it. */
  readonly kind: 'held' | 'others' | 'fault';
  readonly message: string;
}

interface Batch {
  readonly number: number;
  readonly position: string;
}

/**
 * What was heard from the feed and is not folded yet, and which of the feed's positions may be checkpointed: the one of the newest batch
 * below which every stream is served (FLD-9). A stream that fails holds back positions, not streams.
 *
 * Bounded: at most `streamsMax` streams, and one batch position for each of them and one more.
 */
export class Backlog {
  readonly #streamsMax: number;
  /** In the order in which they are to be worked on. */
  readonly #tasks = new Map<string, Task>();
  #batches: Batch[] = [];
  #batchesHeard = 0;

  constructor(streamsMax: number) {
    this.#streamsMax = streamsMax;
  }

  get room(): number {
    return Math.max(0, this.#streamsMax - this.#tasks.size);
  }

  /** How many positions are kept. */
  get positions(): number {
    return this.#batches.length;
  }

  tasks(): IterableIterator<Task> {
    return this.#tasks.values();
  }

  hear({ changes, position }: FeedBatch, nowMs: number): void {
    const number = ++this.#batchesHeard;
    for (const { stream, head } of changes) {
      this.#ring(stream, head, number, nowMs);
    }
    this.#batches.push({ number, position });
    this.#forgetUselessBatches();
  }

  /** Work that no batch named, and that holds back no position. */
  ring(stream: string, head: bigint, nowMs: number): void {
    this.#ring(stream, head, Infinity, nowMs);
  }

  #ring(stream: string, head: bigint, batch: number, nowMs: number): void {
    const known = this.#tasks.get(stream);
    if (!known) return void this.#tasks.set(stream, newTask(stream, head, batch, nowMs));
    known.sinceBatch = Math.min(known.sinceBatch, batch);
    if (head <= known.head) return;
    known.head = head;
    // What came above a hole does not wait for it (FLD-2).
    if (known.trouble?.kind === 'held') known.dueAtMs = nowMs;
  }

  /** Up to `max` tasks whose time has come, the longest waiting first. */
  due(nowMs: number, max: number): readonly Task[] {
    const due: Task[] = [];
    for (const task of this.#tasks.values()) {
      if (due.length === max) break;
      if (task.dueAtMs <= nowMs) due.push(task);
    }
    return due;
  }

  /** Milliseconds until the next task is due; Infinity when there is none. */
  nextDueMs(nowMs: number): number {
    let nextMs = Infinity;
    for (const { dueAtMs } of this.#tasks.values()) nextMs = Math.min(nextMs, Math.max(0, dueAtMs - nowMs));
    return nextMs;
  }

  served(task: Task): void {
    this.#tasks.delete(task.stream);
  }

  /** The task goes behind the others. */
  again(task: Task, dueAtMs: number): void {
    this.#behind(task, dueAtMs);
    task.retryAtMs = dueAtMs;
    task.attempt = 0;
    task.trouble = null;
  }

  /** The same of one whose turn brought nothing. */
  later(task: Task, dueAtMs: number, trouble: Trouble): void {
    this.#behind(task, dueAtMs);
    task.retryAtMs = dueAtMs;
    task.attempt++;
    task.trouble = trouble;
  }

  /** The same of one that waits, and that had a turn in between: it waits no longer for that. */
  waits(task: Task): void {
    this.#behind(task, task.retryAtMs);
  }

  #behind(task: Task, dueAtMs: number): void {
    this.#tasks.delete(task.stream);
    this.#tasks.set(task.stream, task);
    task.dueAtMs = dueAtMs;
  }

  /** The newest position whose every effect is stored; null when there is none yet. */
  servedPosition(): string | null {
    const open = this.#oldestOpenBatch();
    return this.#batches.findLast(({ number }) => number < open)?.position ?? null;
  }

  #oldestOpenBatch(): number {
    let oldest = Infinity;
    for (const { sinceBatch } of this.#tasks.values()) oldest = Math.min(oldest, sinceBatch);
    return oldest;
  }

  /** A position is of use only if a stream is open between it and the next one; otherwise the next one will do. */
  #forgetUselessBatches(): void {
    const open = [...new Set([...this.#tasks.values()].map(({ sinceBatch }) => sinceBatch))].sort((a, b) => a - b);
    let at = 0;
    this.#batches = this.#batches.filter(({ number }, place, batches) => {
      const next = batches[place + 1];
      while (at < open.length && open[at]! <= number) at++;
      return next === undefined || (at < open.length && open[at]! <= next.number);
    });
  }
}

function newTask(stream: string, head: bigint, sinceBatch: number, nowMs: number): Task {
  return {
    stream,
    head,
    sinceBatch,
    heardAtMs: nowMs,
    dueAtMs: nowMs,
    retryAtMs: nowMs,
    attempt: 0,
    foldedThrough: 0n,
    aheadOps: 0n,
    trouble: null,
    isAlarmed: false,
  };
}
