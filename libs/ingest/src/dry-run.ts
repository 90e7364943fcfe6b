import { type RecordResult, Tally } from './answer.ts';
import type { RawRecord } from './decode.ts';
import { type PrepareContext, prepare } from './prepare.ts';

/** Records that are judged before others may run. */
const RECORDS_AT_ONCE = 256;

/**
 * Says of each record whether it would be taken for what it is: one that is valid may still be a duplicate. Nothing is claimed, stored or
 * counted.
 */
export async function dryRun(
  records: Iterable<RawRecord>,
  context: PrepareContext,
  pause: () => Promise<void>,
): Promise<Tally> {
  const tally = new Tally();
  let judged = 0;
  for (const record of records) {
    tally.add([judge(record, context)]);
    if (++judged % RECORDS_AT_ONCE === 0) await pause();
  }
  return tally;
}

function judge(raw: RawRecord, context: PrepareContext): RecordResult {
  const prepared = prepare(raw, context);
  if (prepared.kind === 'ready') return { kind: 'valid' };
  return { kind: 'failed', status: prepared.status, error: prepared.error };
}
