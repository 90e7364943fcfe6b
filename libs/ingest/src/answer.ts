import { type Outcome, RESULTS_MAX, assert } from '@tidemark/libs-kernel';

/** An HTTP answer as a value; the shell adds only what every answer carries. */
export interface IngestAnswer {
  readonly status: number;
  /** JSON text. */
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * What became of one record. `op` is its op id, by which a producer can wait for its own write; null for a record without id.
 * `status` is the answer's when the record came alone; inside a batch only the text is told.
 */
export type RecordResult =
  | { readonly kind: 'stored' | 'duplicate'; readonly op: string | null }
  /** In a dry run: nothing is wrong with the record itself. */
  | { readonly kind: 'valid' }
  | { readonly kind: 'failed'; readonly status: number; readonly error: string };

export interface RefusalDetail {
  readonly retryAfterMs?: number | null;
  /** Default: `not-done`. */
  readonly outcome?: Outcome;
}

/** An answer to the whole request that is not a success. It says what is known about the work, and when to come back. */
export function refuse(status: number, error: string, detail: RefusalDetail = {}): IngestAnswer {
  const headers: Record<string, string> = { 'Tidemark-Outcome': detail.outcome ?? 'not-done' };
  const retryAfterMs = detail.retryAfterMs ?? null;
  if (retryAfterMs !== null) headers['Retry-After'] = String(Math.ceil(retryAfterMs / 1000));
  return { status, body: JSON.stringify({ error }), headers };
}

/** Counts the records of a request exactly, and keeps the results of the first 10,000. */
export class Tally {
  readonly #counts = { stored: 0, valid: 0, duplicate: 0, failed: 0 };
  readonly #results: RecordResult[] = [];

  add(results: readonly RecordResult[]): void {
    for (const result of results) this.#counts[result.kind] += 1;
    this.#results.push(...results.slice(0, RESULTS_MAX - this.#results.length));
  }

  /** The answer to one object that came alone. */
  single(): IngestAnswer {
    const [result] = this.#results;
    assert(result !== undefined, 'a single object has its result');
    if (result.kind === 'failed') return refuse(result.status, result.error);
    if (result.kind === 'valid') return { status: 200, body: '{"valid":true}', headers: {} };
    const body = result.kind === 'stored' ? '{"ok":true}' : '{"duplicate":true}';
    return { status: 200, body, headers: result.op === null ? {} : { 'Tidemark-Op': result.op } };
  }

  /** 200 even when every record failed: who sends a batch branches on `failed`. */
  batch(): IngestAnswer {
    const { stored, valid, duplicate, failed } = this.#counts;
    const succeeded = stored + valid;
    const body = {
      total: succeeded + duplicate + failed,
      succeeded,
      failed,
      duplicates: duplicate,
      results: this.#results.map(echo),
    };
    return { status: 200, body: JSON.stringify(body), headers: {} };
  }
}

/** Undefined members are left out. The index counts from 1. */
function echo(result: RecordResult, position: number): object {
  const index = position + 1;
  if (result.kind === 'failed') return { index, error: result.error };
  if (result.kind === 'valid') return { index, valid: true };
  const op = result.op ?? undefined;
  return result.kind === 'stored' ? { index, ok: true, op } : { index, duplicate: true, op };
}
