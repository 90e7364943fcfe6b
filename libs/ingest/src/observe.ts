import type { PublishOutcome, Topic } from '@tidemark/libs-broker-contract';
import type { Clock, Fault } from '@tidemark/libs-kernel';
import { type Prepared, REJECT_REASONS, type RejectReason } from './prepare.ts';
import type { Failure, Fate } from './settle.ts';

/** Where the flow writes its lines: fields first, as pino takes them. No line carries an id or content of a record (SEC-2). */
export interface IngestLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/**
 * What can become of a record. Each record of a window counts once under its end: `stored`, `duplicate`, `rejected` in prepare, `refused`
 * by the broker, `uncertain` (the broker may have it), `in_flight` (another request holds its id) or `unsent`. `missing_id` and `commit_failed` are noticed beside that.
 */
export type RecordEvent =
  | 'stored'
  | 'duplicate'
  | 'rejected'
  | 'refused'
  | 'uncertain'
  | 'in_flight'
  | 'unsent'
  | 'missing_id'
  | 'commit_failed';

export interface IngestMetrics {
  count(event: RecordEvent, tenant: string, table: string, records: number): void;
  /** Why records were rejected. */
  rejected(reason: RejectReason, tenant: string, table: string, records: number): void;
  /** What the broker said to events. */
  published(outcome: PublishOutcome['kind'], tenant: string, table: string, events: number): void;
  /** How long a window took: from when its records were read until its ids were marked. */
  window(ms: number): void;
}

export const silentLog: IngestLog = { info: () => {}, warn: () => {}, error: () => {} };

export const noMetrics: IngestMetrics = { count: () => {}, rejected: () => {}, published: () => {}, window: () => {} };

/** Says and counts what happens to the windows of one table: one line per window and cause, never one per record. */
export class WindowNotes {
  readonly #log: IngestLog;
  readonly #metrics: IngestMetrics;
  readonly #tenant: string;
  readonly #table: string;
  readonly #clock: Clock;
  /** When the windows that have not ended began; they end in their order. */
  readonly #beganMs: number[] = [];

  constructor(log: IngestLog, metrics: IngestMetrics, clock: Clock, { tenant, table }: Topic) {
    this.#log = log;
    this.#metrics = metrics;
    this.#clock = clock;
    this.#tenant = tenant;
    this.#table = table;
  }

  prepared(records: readonly Prepared[]): void {
    this.#beganMs.push(this.#clock.monotonic());
    const missing = records.filter((record) =>
      record.kind === 'ready' ? record.key === null : record.reason === 'missing_id',
    ).length;
    const reasons = records.flatMap((record) => (record.kind === 'rejected' ? [record.reason] : []));
    this.#count('rejected', reasons.length);
    for (const reason of REJECT_REASONS) {
      const rejected = reasons.filter((one) => one === reason).length;
      if (rejected > 0) this.#metrics.rejected(reason, this.#tenant, this.#table, rejected);
    }
    this.#count('missing_id', missing);
    if (missing > 0) this.#log.warn(this.#fields({ records: missing }), 'records without dedupe id');
  }

  /** A window was given up before anything of it was sent. */
  dropped(records: readonly Prepared[]): void {
    this.#beganMs.shift();
    this.#count('unsent', records.filter(({ kind }) => kind === 'ready').length);
  }

  reserveFailed(records: readonly Prepared[], fault: Fault): void {
    this.dropped(records);
    const level = fault.code === 'unavailable' ? 'warn' : 'error';
    this.#log[level](this.#fields({ err: fault }), 'reserve failed');
  }

  published(fates: readonly Fate[], failure: Failure | null, detail: string | null): void {
    this.#metrics.window(this.#clock.monotonic() - (this.#beganMs.shift() ?? this.#clock.monotonic()));
    const outcomes = fates.flatMap((fate) => ('sent' in fate ? [fate.sent] : []));
    for (const outcome of OUTCOMES) {
      const events = outcomes.filter((one) => one === outcome).length;
      if (events > 0) this.#metrics.published(outcome, this.#tenant, this.#table, events);
    }
    const ends = fates.map((fate) => endOf(fate, fates));
    for (const event of ENDS) this.#count(event, ends.filter((end) => end === event).length);
    if (failure === null) return;
    const level = failure.status === 500 ? 'error' : fates.some(({ kind }) => kind === 'in_flight') ? 'info' : 'warn';
    this.#log[level](this.#fields({ detail, outcome: failure.outcome }), failure.error);
  }

  commitFailed(records: number, fault: Fault): void {
    this.#count('commit_failed', records);
    this.#log.error(this.#fields({ records, err: fault }), 'commit failed; the events are stored');
  }

  releaseFailed(records: number, fault: Fault): void {
    this.#log.warn(this.#fields({ records, err: fault }), 'release failed; the claims lapse');
  }

  #count(event: RecordEvent, records: number): void {
    if (records > 0) this.#metrics.count(event, this.#tenant, this.#table, records);
  }

  #fields(more: object): object {
    return { tenant: this.#tenant, table: this.#table, ...more };
  }
}

/** Rejected records are counted in prepare. */
const ENDS = ['stored', 'duplicate', 'refused', 'uncertain', 'in_flight', 'unsent'] as const;

const OUTCOMES = ['stored', 'duplicate', 'full', 'too_large', 'unavailable', 'unknown'] as const;

function endOf(fate: Fate, fates: readonly Fate[]): (typeof ENDS)[number] | 'rejected' {
  if (fate.kind === 'rejected' || fate.kind === 'duplicate' || fate.kind === 'in_flight') return fate.kind;
  if (fate.kind === 'refused_before') return 'unsent';
  if (fate.kind === 'repeat') {
    const first = fates[fate.of];
    const firstEnd = first === undefined ? 'unsent' : endOf(first, fates);
    return firstEnd === 'stored' || firstEnd === 'duplicate' ? 'duplicate' : 'unsent';
  }
  switch (fate.sent) {
    case 'stored':
    case 'duplicate':
      return 'stored';
    case 'full':
    case 'too_large':
      return 'refused';
    case 'unavailable':
    case 'unknown':
      return 'uncertain';
    case 'not_sent':
      return 'unsent';
  }
}
