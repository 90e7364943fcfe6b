import { DOCUMENT_NAME_BYTES_MAX } from '@tidemark/libs-kernel';
import type { Op } from '@tidemark/libs-wire';
import type { Reducer } from './reduce.ts';
import { jsonProblem } from './reducers/json-text.ts';

/**
 * Events as the relay's intake writes them: the newest record of each id, by the order of the queue. The document is
 * (target_kind, target_id), its one field `body` holds the record's JSON text.
 */
export const eventReducer: Reducer = {
  domain: 'event',
  revision: 0,
  reduce({ seq, op }) {
    if (op.field !== 'body' || op.opType !== 'set') return { kind: 'not_folded' };
    if (tooLong(op.targetKind) || tooLong(op.targetId))
      return { kind: 'refused', reason: 'the name of the document is too long' };
    if (op.value === null) return { kind: 'refused', reason: 'the value is missing' };
    const problem = jsonProblem(op.value);
    if (problem !== null) return { kind: 'refused', reason: problem };
    return { kind: 'folded', changes: [bodyOf(seq, op, op.value)] };
  },
};

/** One that no path can name would also end a page whose next one nobody can ask for. */
function tooLong(name: string): boolean {
  return Buffer.byteLength(name) > DOCUMENT_NAME_BYTES_MAX;
}

function bodyOf(seq: bigint, op: Op, value: string) {
  return {
    effect: 'register',
    kind: op.targetKind,
    id: op.targetId,
    field: op.field,
    shape: 'register',
    member: '',
    value,
    rule: 'higher',
    version: { rank: 0n, lamport: op.lamport, site: op.site, seq },
  } as const;
}
