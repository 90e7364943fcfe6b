import type { Op } from '@tidemark/libs-wire';

/** A well-formed op; its value tells it from every other one. */
export function anOp(fields: Partial<Op> & { readonly opId: string }): Op {
  return {
    envelopeVersion: 1,
    lamport: 7n,
    site: 7_203_685_477_580_712_345n,
    domain: 'task',
    targetKind: 'item',
    targetId: 'ab12.7x3k',
    field: 'title',
    opType: 'set',
    value: `value of ${fields.opId}`,
    author: 'alice',
    wallClock: '2026-10-12T08:15:00Z',
    extra: '{}',
    ...fields,
  };
}

export const someOps = (prefix: string, n: number): Op[] =>
  Array.from({ length: n }, (_, i) => anOp({ opId: `${prefix}${i + 1}` }));
