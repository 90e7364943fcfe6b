import type { Broker } from '@tidemark/libs-broker-contract';
import type { Deduplicator } from '@tidemark/libs-dedupe-contract';
import { type Clock, type Tracer, WINDOW_RECORDS_MAX, untraced } from '@tidemark/libs-kernel';
import { type Admitted, type Refusal, type RequestHead, admit } from './admit.ts';
import { type IngestAnswer, Tally, refuse } from './answer.ts';
import { decode } from './decode.ts';
import { dryRun } from './dry-run.ts';
import { type TablesRequest, listTables } from './list-tables.ts';
import { type IngestLog, type IngestMetrics, WindowNotes, noMetrics, silentLog } from './observe.ts';
import type { PrepareContext } from './prepare.ts';
import { SparingLog } from './sparing-log.ts';
import type { Tables } from './tables.ts';
import { RequestWindows, mayStore } from './window.ts';

export interface IngestParts {
  readonly deduplicator: Pick<Deduplicator, 'reserve' | 'commit' | 'release'>;
  readonly broker: Pick<Broker, 'publish' | 'bodyBytesMax'>;
  readonly tables: Tables;
  readonly clock: Clock;
  /** How long a claim is held; twice this and a second must fit the broker's duplicate window (ING-6). */
  readonly leaseMs: number;
  /** Publishes of one window that may wait for their answer together; 1 = one by one. */
  readonly publishesInFlightMax?: number;
  /** Records of one window at most. */
  readonly windowRecordsMax?: number;
  readonly log?: IngestLog;
  readonly metrics?: IngestMetrics;
  readonly tracer?: Tracer;
  /** Lets others run during work that waits for nothing. */
  readonly pause?: () => Promise<void>;
}

export interface IngestRequest extends RequestHead {
  readonly body: Uint8Array;
  /** Wall clock, ms: when the request arrived. Every record of it carries this time. */
  readonly receivedMs: number;
  /** W3C traceparent that its events carry on; absent: nobody follows the trace. */
  readonly traceparent?: string | undefined;
}

/**
 * Takes events in, each into the queue once: an id is marked only after the broker has its event. A record answered `ok` or `duplicate`
 * is in the queue; for any other answer the header `Tidemark-Outcome` says what is known, and the same request may be sent again as it was.
 */
export class IngestService {
  readonly #parts: Required<IngestParts>;
  readonly #log: SparingLog;

  constructor(parts: IngestParts) {
    this.#parts = {
      publishesInFlightMax: WINDOW_RECORDS_MAX,
      windowRecordsMax: WINDOW_RECORDS_MAX,
      log: silentLog,
      metrics: noMetrics,
      tracer: untraced,
      pause: () => Promise.resolve(),
      ...parts,
    };
    this.#log = new SparingLog(this.#parts.log, parts.clock);
  }

  /** What can be decided while the body has not arrived: a refused request need not send it. */
  admit(head: RequestHead): Admitted | Refusal {
    return admit(head, this.#parts.tables);
  }

  /** The tables that a caller may insert into. */
  listTables(request: TablesRequest): IngestAnswer {
    return listTables(request, this.#parts.tables);
  }

  /** What `ingest` would say of each record by itself, in the same form. Nothing is claimed, stored or counted. */
  async dryRun(request: IngestRequest): Promise<IngestAnswer> {
    const admission = this.admit(request);
    if (admission.kind === 'refused') return admission.answer;
    const decoded = decode(admission.format, request.body);
    if (decoded.kind === 'refused') return refuse(decoded.status, decoded.error);
    const records = decoded.kind === 'single' ? [decoded.record] : decoded.records;
    const tally = await dryRun(records, this.#contextOf(admission, request), this.#parts.pause);
    return decoded.kind === 'single' ? tally.single() : tally.batch();
  }

  /**
   * Runs to its end: it does not notice a client that goes away. Windows of at most 256 records, one after the other; the ids of the next
   * are claimed while one is published. The first that fails is the answer; nothing of later ones is published, and their ids are free.
   */
  async ingest(request: IngestRequest): Promise<IngestAnswer> {
    const admission = this.admit(request);
    if (admission.kind === 'refused') return admission.answer;
    const decoded = decode(admission.format, request.body);
    if (decoded.kind === 'refused') return refuse(decoded.status, decoded.error);
    const windows = this.#windowsOf(admission, request);
    const tally = new Tally();
    const records = decoded.kind === 'single' ? [decoded.record] : decoded.records;
    const raw = chunks(records, this.#parts.windowRecordsMax);
    const openNext = async () => {
      const next = raw.next();
      return next.done === true ? null : windows.open(next.value);
    };
    // Windows of nothing but bad records and known ids wait for nobody: others run between them all the same.
    const openLater = async () => (await Promise.all([openNext(), this.#parts.pause()]))[0];
    for (let window = await openNext(); window !== null;) {
      const [end, next] = await Promise.all([windows.close(window), mayStore(window) ? openLater() : null]);
      if (end.kind === 'failed') {
        if (next !== null) await windows.drop(next);
        return refuse(end.failure.status, end.failure.error, end.failure);
      }
      tally.add(end.results);
      window = next;
    }
    return decoded.kind === 'single' ? tally.single() : tally.batch();
  }

  #windowsOf(admitted: Admitted, request: IngestRequest): RequestWindows {
    const { metrics, clock } = this.#parts;
    const topic = { tenant: admitted.tenant, table: admitted.table.name };
    const notes = new WindowNotes(this.#log, metrics, clock, topic);
    return new RequestWindows({ ...this.#parts, notes }, this.#contextOf(admitted, request));
  }

  #contextOf({ tenant, table, permit }: Admitted, { receivedMs, traceparent }: IngestRequest): PrepareContext {
    const receivedTimestamp = new Date(receivedMs).toISOString();
    return { tenant, table, permit, receivedTimestamp, traceparent, bodyBytesMax: this.#parts.broker.bodyBytesMax };
  }
}

function* chunks<T>(items: Iterable<T>, size: number): Generator<T[]> {
  let chunk: T[] = [];
  for (const item of items) {
    if (chunk.push(item) < size) continue;
    yield chunk;
    chunk = [];
  }
  if (chunk.length > 0) yield chunk;
}
