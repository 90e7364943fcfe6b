import type { Broker } from '@tidemark/libs-broker-contract';
import type { ClaimedKey, Deduplicator } from '@tidemark/libs-dedupe-contract';
import type { Clock, Fault, Tracer } from '@tidemark/libs-kernel';
import type { RecordResult } from './answer.ts';
import { commit, release } from './commit.ts';
import type { RawRecord } from './decode.ts';
import type { WindowNotes } from './observe.ts';
import { type PrepareContext, type Prepared, type Ready, prepare } from './prepare.ts';
import { type Publication, publishAll } from './publish.ts';
import { type Standing, reserve } from './reserve.ts';
import { resultOf } from './result.ts';
import { type Failure, type Fate, type Settlement, type Verdict, settle, settleReserveFault } from './settle.ts';

/** What the windows of one request work with. */
export interface WindowParts {
  readonly deduplicator: Pick<Deduplicator, 'reserve' | 'commit' | 'release'>;
  readonly broker: Pick<Broker, 'publish'>;
  readonly clock: Clock;
  readonly leaseMs: number;
  readonly publishesInFlightMax: number;
  readonly notes: WindowNotes;
  readonly tracer: Tracer;
}

/** A window whose ids are claimed and whose records are not yet published. */
export interface OpenWindow {
  readonly kind: 'open';
  readonly records: readonly Prepared[];
  readonly standings: readonly Standing[];
  /** On the monotonic clock: later than this the claims may be another's. */
  readonly heldUntilMs: number;
}

export interface ClosedWindow {
  readonly kind: 'closed';
  readonly results: readonly RecordResult[];
}

/** A window whose ids could not be claimed: it holds nothing. */
export interface UnreservedWindow {
  readonly kind: 'unreserved';
  readonly fault: Fault;
}

export type OpenedWindow = OpenWindow | UnreservedWindow;

/** False: it is known already that the window fails, so that nothing of a later one need be claimed. */
export function mayStore(window: OpenedWindow): boolean {
  return window.kind === 'open' && window.standings.every(({ kind }) => kind !== 'in_flight');
}

/** The request ends here; the window holds nothing but what an uncertain publish leaves to lapse. */
export interface FailedWindow {
  readonly kind: 'failed';
  readonly failure: Failure;
}

/**
 * The windows of one request, in their order, the next one opened while one is closed (ING-3):
 *
 *     window 1   prepare ─▶ reserve ─▶ publish ─▶ settle ─▶ commit ─▶ release ─▶ results
 *     window 2                         prepare ─▶ reserve              ...       publish ─▶ settle ...
 *
 *     open:  prepare ─▶ reserve        close:  the rest        drop:  release
 *
 * Close runs to its end whatever becomes of the client (ING-5).
 */
export class RequestWindows {
  readonly #parts: WindowParts;
  readonly #context: PrepareContext;
  /** Ids that the window opened last has claimed. */
  #claimed: readonly string[] = [];
  /** Ids that this request published and could not commit. */
  readonly #uncommitted = new Set<string>();
  /** Ids of records that the broker refused by themselves. */
  readonly #refused = new Set<string>();
  #queued = false;

  constructor(parts: WindowParts, context: PrepareContext) {
    this.#parts = parts;
    this.#context = context;
  }

  /** May run beside the close of the window before. */
  async open(raw: readonly RawRecord[]): Promise<OpenedWindow> {
    const { clock, deduplicator, leaseMs, notes } = this.#parts;
    const records = raw.map((record) => prepare(record, this.#context));
    notes.prepared(records);
    const heldUntilMs = clock.monotonic() + leaseMs;
    const held = new Set([...this.#uncommitted, ...this.#claimed]);
    const reservation = await reserve(records, held, deduplicator, leaseMs);
    if (reservation.kind === 'reserved') {
      const { standings } = reservation;
      this.#claimed = standings.flatMap((standing) => (standing.kind === 'claimed' ? [standing.claim.key.id] : []));
      return { kind: 'open', records, standings, heldUntilMs };
    }
    notes.reserveFailed(records, reservation.fault);
    return { kind: 'unreserved', fault: reservation.fault };
  }

  async close(window: OpenedWindow): Promise<ClosedWindow | FailedWindow> {
    if (window.kind === 'unreserved') {
      return { kind: 'failed', failure: settleReserveFault(window.fault, this.#queued) };
    }
    const { fates, detail } = await this.#parts.tracer.span('publish', () => this.#publish(window));
    const settlement = settle(fates, { leaseMs: this.#parts.leaseMs, earlierQueued: this.#queued });
    await this.#settleClaims(settlement, window.standings);
    this.#parts.notes.published(fates, settlement.failure, detail);
    if (settlement.failure !== null) return { kind: 'failed', failure: settlement.failure };
    const { verdicts } = settlement;
    this.#queued ||= verdicts.some((verdict) => verdict === 'stored' || verdict === 'duplicate');
    this.#noteRefused(window.standings, verdicts);
    const { retentionMs } = this.#context.table;
    return { kind: 'closed', results: window.records.map((record, at) => resultOf(record, verdicts[at], retentionMs)) };
  }

  /** Gives up a window that is not to be closed, because the one before failed: nothing of it is published. */
  async drop(window: OpenedWindow): Promise<void> {
    if (window.kind === 'unreserved') return;
    this.#parts.notes.dropped(window.records);
    await this.#release(claimsAt([...window.standings.keys()], window.standings));
  }

  #noteRefused(standings: readonly Standing[], verdicts: readonly Verdict[]): void {
    for (const [at, standing] of standings.entries())
      if (standing.kind === 'claimed' && verdicts[at] === 'too_large') this.#refused.add(standing.claim.key.id);
  }

  /** Nothing is sent while a key of the window is in flight elsewhere, nor after the claims may have lapsed. */
  async #publish({ records, standings, heldUntilMs }: OpenWindow): Promise<{ fates: Fate[]; detail: string | null }> {
    const { broker, clock, publishesInFlightMax } = this.#parts;
    const { tenant, table } = this.#context;
    const topic = { tenant, table: table.name };
    const inFlight = standings.some(({ kind }) => kind === 'in_flight');
    const claimsNothing = standings.every(({ kind }) => kind !== 'claimed');
    const publication = await publishAll(toSend(records, standings), topic, broker, {
      inFlightMax: table.ordered ? 1 : publishesInFlightMax,
      maySend: () => !inFlight && (claimsNothing || clock.monotonic() < heldUntilMs),
    });
    return { fates: this.#fatesOf(standings, publication), detail: publication.detail };
  }

  /** Commits before it releases: a stored event is marked first of all. */
  async #settleClaims(settlement: Settlement, standings: readonly Standing[]): Promise<void> {
    const { deduplicator, notes } = this.#parts;
    const stored = claimsAt(settlement.commit, standings);
    const commitFault = await commit(stored, this.#context.table.retentionMs, deduplicator);
    if (commitFault !== null) {
      notes.commitFailed(stored.length, commitFault);
      for (const claim of stored) this.#uncommitted.add(claim.key.id);
    }
    await this.#release(claimsAt(settlement.release, standings));
  }

  async #release(unsent: readonly ClaimedKey[]): Promise<void> {
    const { deduplicator, notes } = this.#parts;
    const releaseFault = await release(unsent, deduplicator);
    if (releaseFault !== null) notes.releaseFailed(unsent.length, releaseFault);
  }

  /** Gives each outcome back to its record; both are in record order. */
  #fatesOf(standings: readonly Standing[], { sent }: Publication): Fate[] {
    const outcomes = sent.values();
    return standings.map((standing): Fate => {
      if (standing.kind === 'repeat') return standing;
      if (standing.kind === 'earlier') return { kind: this.#refused.has(standing.id) ? 'refused_before' : 'duplicate' };
      if (standing.kind !== 'claimed' && standing.kind !== 'unkeyed') return { kind: standing.kind };
      return { kind: standing.kind, sent: outcomes.next().value ?? 'not_sent' };
    });
  }
}

function toSend(records: readonly Prepared[], standings: readonly Standing[]): Ready[] {
  return records.flatMap((record, position) => {
    const kind = standings[position]?.kind;
    return record.kind === 'ready' && (kind === 'claimed' || kind === 'unkeyed') ? [record] : [];
  });
}

function claimsAt(positions: readonly number[], standings: readonly Standing[]): ClaimedKey[] {
  return positions.flatMap((position) => {
    const standing = standings[position];
    return standing?.kind === 'claimed' ? [standing.claim] : [];
  });
}
