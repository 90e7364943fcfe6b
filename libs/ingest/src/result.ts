import { assert } from '@tidemark/libs-kernel';
import type { RecordResult } from './answer.ts';
import type { Prepared } from './prepare.ts';
import type { Verdict } from './settle.ts';

/** What the client is told of one record of a window that did not fail. */
export function resultOf(record: Prepared, verdict: Verdict | undefined, retentionMs: number): RecordResult {
  if (record.kind === 'rejected') return { kind: 'failed', status: record.status, error: record.error };
  assert(verdict !== undefined && verdict !== 'rejected', 'every prepared record has its verdict');
  if (verdict === 'too_large')
    return { kind: 'failed', status: 413, error: 'the queue refused the record as too large' };
  if (verdict === 'repeat_of_refused') {
    return {
      kind: 'failed',
      status: 413,
      error: 'not sent: the queue refused an earlier record with the same id as too large',
    };
  }
  return { kind: verdict, op: opId(record.idempotencyKey, retentionMs) };
}

/**
 * The op id under which the relay will hold the event. With a finite retention the id may come again as another event, whose op id also
 * names where the queue stored it, which is not known of a duplicate: none is told then.
 */
const opId = (idempotencyKey: string | null, retentionMs: number): string | null =>
  retentionMs === 0 ? idempotencyKey : null;
