import type { FeedBatch } from '@tidemark/libs-feed-contract';

/** A stream that has, or may have, ops above its mark. */
export interface Task {
  readonly stream: string;
  /** Highest seq that a doorbell named. */
  head: bigint;
  /** The oldest batch that named it and is not served: no position at or behind that batch may be checkpointed. */
  readonly sinceBatch: number;
  /** On the monotonic clock; not worked on before. */
  dueAtMs: number;
  /** Turns in a row that brought nothing. */
  attempt: number;
  /** How far the stream is known to be folded; 0 before its first turn. */
  foldedThrough: bigint;
  /** Why the last turn brought nothing; null while all is well. */
  trouble: Trouble | null;
}

export interface Trouble {
  /** `held`: the log shows nothing above `foldedThrough` yet, although an op is known there. */
  readonly kind: 'held' | 'fault';
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
      const known = this.#tasks.get(stream);
      if (known) known.head = head > known.head ? head : known.head;
      else this.#tasks.set(stream, newTask(stream, head, number, nowMs));
    }
    this.#batches.push({ number, position });
    this.#forgetUselessBatches();
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
  again(task: Task, dueAtMs: number, trouble: Trouble | null): void {
    this.#tasks.delete(task.stream);
    this.#tasks.set(task.stream, task);
    task.dueAtMs = dueAtMs;
    task.trouble = trouble;
    task.attempt = trouble ? task.attempt + 1 : 0;
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

function newTask(stream: string, head: bigint, sinceBatch: number, dueAtMs: number): Task {
  return { stream, head, sinceBatch, dueAtMs, attempt: 0, foldedThrough: 0n, trouble: null };
}
