import type { FaultData } from './map-error.ts';
import type { Weight } from './weight.ts';

export type Cell = bigint | number | string | null;

export interface Append {
  readonly kind: 'append';
  readonly stream: string;
  /** The cells of the ops in the order of OP_COLUMNS, one op after the other: objects would take 2.5 times as long to send. */
  readonly cells: readonly Cell[];
}

export interface Appended {
  /** One per op, in order. */
  readonly seqs: readonly bigint[];
  /** Places in `seqs` of ops that the stream held already. */
  readonly existing: readonly number[];
}

/** One bounded part of an erasure. */
export interface Erase {
  readonly kind: 'erase';
  readonly stream: string;
  /** Ops up to this seq go; null in the first part: up to the head of that moment. */
  readonly upTo: bigint | null;
  readonly nowSecs: bigint;
}

export interface Erased {
  readonly ops: number;
  readonly upTo: bigint;
  /** Ops may be left: the next part goes on. */
  readonly more: boolean;
}

export interface Claim {
  readonly kind: 'claim';
  readonly stream: string;
  readonly prefix: string;
  readonly replicaUuid: string;
}

export interface Announce {
  readonly kind: 'announce';
  readonly stream: string;
  readonly machineId: string;
  readonly name: string;
  readonly intervalSecs: bigint;
  readonly nowSecs: bigint;
  readonly forgetBeforeSecs: bigint;
}

/** A write as plain data, so that it can be sent to the writer's thread. */
export type Command = Append | Erase | Claim | Announce;

/** What a command is answered. */
export interface AnswerTo {
  readonly append: Appended;
  readonly erase: Erased;
  /** The prefix that the replica owns now; null: the asked one is taken by another. */
  readonly claim: string | null;
  readonly announce: null;
}

export type Answer = AnswerTo[Command['kind']];

/** What became of one command of a batch. */
export type Outcome =
  { readonly kind: 'done'; readonly answer: Answer } | { readonly kind: 'failed'; readonly fault: FaultData };

/** What the writer's thread is told when it starts. */
export interface WriterSettings {
  readonly file: string;
  /** How long batches wait together while another process writes. */
  readonly busyTimeoutMs: number;
}

export interface Written {
  /** One per command, in order. */
  readonly outcomes: readonly Outcome[];
  /** Why nothing may be written any more, ever. */
  readonly fatal: FaultData | null;
}

/** Commands that are stored together; other batches may join them. */
export interface Batch {
  readonly commands: readonly Command[];
  readonly weight: Weight;
  /** Nothing else waited when it was sent: a new wait begins with it, which all that is sent before it is answered share. */
  readonly first: boolean;
}

/** Writes batches in the order of the calls. Any number may be given before the first is answered. */
export interface Writer {
  /** Rejects when the writer has ended by itself. */
  readonly failed: Promise<never>;
  /** Fault `unknown_outcome` when the writer ends before it answers, `unavailable` when it had ended before. */
  write(batch: Batch): Promise<Written>;
  /** Resolves when every batch is answered. */
  close(): Promise<void>;
}
