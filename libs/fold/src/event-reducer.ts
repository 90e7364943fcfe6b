import { DOCUMENT_NAME_BYTES_MAX, asFault } from '@tidemark/libs-kernel';
import { type Op, jsonEnd } from '@tidemark/libs-wire';
import type { Reducer } from './reduce.ts';

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

/** Readers get the text inside their answer as it stands, so it must be one whole JSON document. */
function jsonProblem(text: string): string | null {
  try {
    const end = jsonEnd(text);
    return /^[ \t\n\r]*$/.test(text.slice(end)) ? null : `invalid json: text after the value at offset ${end}`;
  } catch (thrown) {
    return asFault(thrown).message;
  }
}
