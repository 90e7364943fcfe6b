import { hash } from 'node:crypto';
import type { AppendOutcome, ReadPage } from '@tidemark/libs-op-store-contract';
import type { Op } from '@tidemark/libs-wire';
import type { Database, Flight, Write } from '../dynamo/database.ts';
import { itemOpText, opText } from './stored-op.ts';

/** What is promised of a run. A foreign writer, a lost counter or ops without claims take some of it away. */
export interface Promises {
  /** RLY-3: nothing is stored below what a reader was given, and a reader is given all that is below its cursor. */
  readonly complete: boolean;
  /** RLY-4: seqs are dense from the first one that the run stored. */
  readonly dense: boolean;
  /** RLY-5: an op id is stored once and answered with one seq. */
  readonly once: boolean;
  /** The counter never moves back (RLY-13). Not where a fault moves it. */
  readonly counterGrows: boolean;
  /** A read that begins after the answer of a push holds it. Promised to nobody by rounds of several ops. */
  readonly readableAtOnce: boolean;
}

export const allPromises: Promises = {
  complete: true,
  dense: true,
  once: true,
  counterGrows: true,
  readableAtOnce: false,
};

interface StreamHistory {
  /** Op texts by seq, of everything that was ever committed. */
  readonly ops: Map<bigint, string>;
  readonly seqs: bigint[];
  readonly seqsOf: Map<string, bigint[]>;
  readonly answers: Map<string, bigint>;
  readonly refused: Set<string>;
  counter: bigint;
  /** The highest cursor that any reader was given, and who that was. */
  shown: bigint;
  shownTo: string;
  /** Op texts in the order in which they were committed. */
  readonly committed: string[];
  /** Ops that stood there before the run. */
  old: number;
}

/** What a reader knew when its read began. */
export interface ReadStart {
  readonly reader: string;
  readonly stream: string;
  readonly after: bigint;
  /** Seqs of pushes that were answered by then. */
  readonly answered: readonly bigint[];
}

/** Judges a run against what it promised, from the commits of the database and what actors were answered. */
export class History {
  readonly violations: string[] = [];
  readonly #promises: Promises;
  readonly #streams = new Map<string, StreamHistory>();
  /** Ops that are put by hand before the run are no commits of its writers. */
  #begun = false;

  constructor(database: Database, promises: Promises = allPromises) {
    this.#promises = promises;
    database.onCommit((flight) => this.#commit(flight));
  }

  /** What stands in the table by now was there before. */
  begin(): void {
    this.#begun = true;
  }

  /** A counter that a fault moved is the new truth. */
  counterLost(stream: string): void {
    this.#of(stream).counter = 0n;
  }

  answered(stream: string, ops: readonly Op[], outcomes: readonly AppendOutcome[]): void {
    const history = this.#of(stream);
    if (outcomes.length !== ops.length)
      return this.#wrong(`${ops.length} ops were answered ${outcomes.length} outcomes`);
    for (const [i, op] of ops.entries()) {
      const { seq, kind } = outcomes[i] as AppendOutcome;
      const stored = history.ops.get(seq);
      if (stored === undefined) this.#wrong(`RLY-6: ${op.opId} was answered ${seq}, where nothing is stored`);
      else if (kind === 'stored' && stored !== opText(op))
        this.#wrong(`RLY-6: ${op.opId} was answered ${seq}, where another op stands`);
      else if (idOf(stored) !== op.opId)
        this.#wrong(`RLY-5: ${op.opId} was answered ${seq}, the seq of ${idOf(stored)}`);
      const before = history.answers.get(op.opId) ?? seq;
      if (this.#promises.once && before !== seq)
        this.#wrong(`RLY-5: ${op.opId} was answered ${before} and then ${seq}`);
      history.answers.set(op.opId, seq);
    }
  }

  /** Ops of a push that was refused, nothing of it done, and that nobody pushes again. */
  refused(stream: string, ops: readonly Op[]): void {
    for (const { opId } of ops) this.#of(stream).refused.add(opId);
  }

  readBegins(reader: string, stream: string, after: bigint): ReadStart {
    const answered = [...this.#of(stream).answers.values()].filter((seq) => seq > after);
    return { reader, stream, after, answered };
  }

  readEnds({ reader, stream, after, answered }: ReadStart, { ops, next }: ReadPage): void {
    const history = this.#of(stream);
    let last = after;
    for (const { seq, op } of ops) {
      if (seq <= last || seq > next)
        this.#wrong(`${reader} was given ${seq} after ${last}, in a page that ends at ${next}`);
      if (history.ops.get(seq) !== opText(op))
        this.#wrong(`${reader} was given an op at ${seq} that is not stored there`);
      last = seq;
    }
    if (next < after) this.#wrong(`${reader}: the cursor went back from ${after} to ${next}`);
    if (this.#promises.readableAtOnce)
      for (const seq of answered)
        if (seq > next) this.#wrong(`${seq} was answered before ${reader} read, and its page ends at ${next}`);
    if (!this.#promises.complete) return;
    const given = new Set(ops.map(({ seq }) => seq));
    for (let at = indexAbove(history.seqs, after); at < history.seqs.length; at++) {
      const seq = history.seqs[at] as bigint;
      if (seq > next) break;
      if (!given.has(seq)) this.#wrong(`RLY-3: ${reader} passed from ${after} to ${next} and was not given ${seq}`);
    }
    for (const seq of answered)
      if (seq <= next && !given.has(seq))
        this.#wrong(`RLY-3: ${seq} was answered before ${reader} read past it, and is not in the page`);
    if (next > history.shown) Object.assign(history, { shown: next, shownTo: reader });
  }

  /** At the end: everything that a full read from 0 gives, in its order. */
  finish(stream: string, all: ReadPage['ops']): void {
    const history = this.#of(stream);
    if (this.#promises.once)
      for (const [opId, seqs] of history.seqsOf)
        if (seqs.length > 1) this.#wrong(`RLY-5: ${opId} is stored at ${seqs.join(' and ')}`);
    for (const [opId, seq] of history.answers)
      if (!all.some((one) => one.seq === seq && one.op.opId === opId))
        this.#wrong(`RLY-6: ${opId}, answered ${seq}, is not in the log`);
    for (const opId of history.refused)
      if (history.seqsOf.has(opId)) this.#wrong(`OPS-6: ${opId} was refused as not done, and is stored`);
    if (this.#promises.dense && history.seqs.some((seq, i) => seq !== BigInt(i + 1)))
      this.#wrong(`RLY-4: the seqs are not dense: ${history.seqs.slice(0, 20).join(' ')}`);
    if (!this.#promises.dense) return;
    if (chained(all.map(({ op }) => opText(op))) !== chained(history.committed))
      this.#wrong('RLY-3: the log, read from its start, is not what was committed, in that order');
  }

  /** Something that must end does not. */
  wedged(what: string): void {
    this.#wrong(`wedged: ${what}`);
  }

  opsOf(stream: string): number {
    return this.#of(stream).ops.size;
  }

  /** What violations can still depend on, beside the database. */
  fingerprint(): string {
    return [...this.#streams]
      .map(([stream, { answers, shown }]) => `${stream} ${shown} ${[...answers].join(' ')}`)
      .join('\n');
  }

  #commit({ writes }: Flight): void {
    const ops = writes.filter(({ seq }) => seq > 0n).sort((a, b) => (a.seq < b.seq ? -1 : 1));
    for (const write of ops) this.#commitOp(write);
    for (const write of writes) {
      if (write.seq === 0n) this.#commitCounter(write);
      else if (write.seq < 0n) this.#commitClaim(write, ops);
    }
  }

  #commitOp({ stream, seq, item }: Write): void {
    const history = this.#of(stream);
    if (item === null) return this.#wrong(`an op was removed: ${seq}`);
    const text = itemOpText(item);
    if (history.ops.has(seq)) this.#wrong(`RLY-13: the op at ${seq} was overwritten`);
    if (this.#promises.complete && seq <= history.shown)
      this.#wrong(`RLY-3: ${seq} was stored after ${history.shownTo} had been given the cursor ${history.shown}`);
    history.ops.set(seq, text);
    history.seqs.splice(indexAbove(history.seqs, seq), 0, seq);
    const opId = idOf(text);
    history.seqsOf.set(opId, [...(history.seqsOf.get(opId) ?? []), seq]);
    history.committed.push(text);
    if (!this.#begun) history.old++;
  }

  #commitCounter({ stream, item }: Write): void {
    const history = this.#of(stream);
    const counter = BigInt(item?.['next_seq']?.N ?? '0');
    if (this.#promises.counterGrows && counter < history.counter)
      this.#wrong(`RLY-13: the counter moved back from ${history.counter} to ${counter}`);
    history.counter = counter;
  }

  #commitClaim({ item }: Write, ops: readonly Write[]): void {
    if (!this.#begun) return;
    const op = ops.find(({ seq }) => String(seq) === item?.['op_seq']?.N);
    if (op?.item?.['op_id']?.S !== item?.['op_id']?.S)
      this.#wrong(
        `a claim of ${item?.['op_id']?.S} names ${item?.['op_seq']?.N}, where its transaction stores no such op`,
      );
  }

  #of(stream: string): StreamHistory {
    let history = this.#streams.get(stream);
    if (history === undefined) {
      history = {
        ops: new Map(),
        seqs: [],
        seqsOf: new Map(),
        answers: new Map(),
        refused: new Set(),
        counter: 0n,
        shown: 0n,
        shownTo: '',
        committed: [],
        old: 0,
      };
      this.#streams.set(stream, history);
    }
    return history;
  }

  #wrong(what: string): void {
    if (this.violations.length < 20) this.violations.push(what);
  }
}

const ids = new Map<string, string>();

/** The id of an op that is given as its text. */
function idOf(text: string): string {
  const id = ids.get(text) ?? (JSON.parse(text) as [number, string])[1];
  if (ids.size < IDS_MAX) ids.set(text, id);
  return id;
}

const IDS_MAX = 1000;

/** One hash over the ops in their order: each link holds the one before it. */
const chained = (texts: readonly string[]) =>
  texts.reduce((sum, text) => hash('sha256', `${sum}\n${text}`, 'base64'), '');

/** Where the first seq stands that is above the given one. */
function indexAbove(seqs: readonly bigint[], seq: bigint): number {
  let [low, high] = [0, seqs.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((seqs[middle] as bigint) <= seq) low = middle + 1;
    else high = middle;
  }
  return low;
}
