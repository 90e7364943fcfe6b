import { Fault, INGEST_BODY_BYTES_MAX, RESULTS_MAX } from '@tidemark/libs-kernel';
import { Members } from './answer-json.ts';
import type { Answer } from './exchange.ts';
import { type CallOptions, Service, type ServiceOptions, isTransient } from './service.ts';
import { ServiceError } from './service-error.ts';

export interface IngestOptions extends ServiceOptions {
  /** Default: tenant `0`. */
  readonly tenant?: string;
  /** Default: `events`. */
  readonly table?: string;
}

export interface PostOptions extends CallOptions {
  /**
   * True when a record has no id, so that the service cannot recognise a repeat: then a request is repeated only after it was certainly not
   * done. Default: false.
   */
  readonly withoutIds?: boolean;
}

/** What became of one record. `op`: the op id under which the relay will hold it; null for a record without id. */
export type RecordOutcome =
  | { readonly kind: 'stored' | 'duplicate'; readonly op: string | null }
  | { readonly kind: 'refused'; readonly reason: string };

/**
 * Outcomes by the place of their record. `error`: where the posts ended early; the records without an outcome may be stored as far as
 * `error.outcome` and the batch of the first of them go, and posting them again is safe when they have ids.
 */
export interface PostOutcome {
  readonly outcomes: readonly RecordOutcome[];
  readonly error: ServiceError | null;
}

/** Sends nothing by itself. */
export const connectIngest = (options: IngestOptions): IngestClient => new IngestClient(options);

export class IngestClient {
  readonly #service: Service;
  readonly #path: string;
  readonly #tenant: Readonly<Record<string, string>>;

  constructor(options: IngestOptions) {
    this.#service = new Service(options);
    this.#path = `/v1/ingest?table=${encodeURIComponent(options.table ?? 'events')}`;
    this.#tenant = options.tenant === undefined ? {} : { 'x-tenant-id': options.tenant };
  }

  /** Posts one record, given as its JSON text. Rejects with a ServiceError when it was not taken, also for its own sake. */
  async postOne(record: string, options: PostOptions = {}): Promise<RecordOutcome> {
    return this.#post('application/json', record, options, ({ headers, body }) => {
      const kind = Members.of(body).has('duplicate') ? 'duplicate' : 'stored';
      return { kind, op: headers.get('tidemark-op') };
    });
  }

  /** Posts records in their order, each given as its JSON text, in batches that one request takes. */
  async post(records: readonly string[], options: PostOptions = {}): Promise<PostOutcome> {
    const outcomes: RecordOutcome[] = [];
    for (const lines of bodiesOf(records)) {
      try {
        const told = await this.#post('application/x-ndjson', lines.join(''), options, (answer) =>
          outcomesIn(answer, lines.length),
        );
        outcomes.push(...told);
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error;
        return { outcomes, error };
      }
    }
    return { outcomes, error: null };
  }

  #post<T>(type: string, body: string, options: PostOptions, read: (answer: Answer) => T): Promise<T> {
    const headers = { 'content-type': type, ...this.#tenant };
    const request = { method: 'POST', path: this.#path, headers, body, signal: options.signal } as const;
    const repeats = (error: ServiceError) =>
      isTransient(error) && (options.withoutIds !== true || error.outcome === 'not-done');
    return this.#service.call(request, read, repeats);
  }
}

/** Lines of NDJSON, cut where a body or the list of results would be too long. */
function* bodiesOf(records: readonly string[]): Generator<readonly string[]> {
  let lines: string[] = [];
  let bytes = 0;
  for (const record of records) {
    const line = `${lineOf(record)}\n`;
    const lineBytes = Buffer.byteLength(line);
    if (lines.length === RESULTS_MAX || (lines.length > 0 && bytes + lineBytes > INGEST_BODY_BYTES_MAX)) {
      yield lines;
      lines = [];
      bytes = 0;
    }
    lines.push(line);
    bytes += lineBytes;
  }
  if (lines.length > 0) yield lines;
}

/** A line break between tokens is a blank like any other; inside a string it is no JSON. A blank line would be skipped, and not told of. */
function lineOf(record: string): string {
  return record.replace(/[\r\n]+/g, ' ').trim() || 'null';
}

function outcomesIn({ body }: Answer, records: number): RecordOutcome[] {
  const results = Members.of(body).list('results');
  if (results.length !== records) throw new Fault('invalid', `results: ${results.length} of ${records}`);
  return results.map((result) => {
    if (result.has('error')) return { kind: 'refused', reason: result.text('error') };
    return { kind: result.has('duplicate') ? 'duplicate' : 'stored', op: result.textOrNull('op') };
  });
}
