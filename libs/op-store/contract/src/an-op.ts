import type { Op } from '@tidemark/libs-wire';

/** A well-formed op, for tests; every field can be set. */
export function anOp(fields: Partial<Op> = {}): Op {
  return {
    envelopeVersion: 1,
    opId: 'op-1',
    lamport: 7n,
    site: 42n,
    domain: 'task',
    targetKind: 'item',
    targetId: 'ab12.7x3k',
    field: 'title',
    opType: 'set',
    value: 'hello',
    author: 'alice',
    wallClock: '2026-10-12T08:15:00Z',
    extra: '{}',
    ...fields,
  };
}

/** `n` ops with the ids `prefix`-1 to `prefix`-n. */
export function someOps(n: number, prefix = 'op'): Op[] {
  return Array.from({ length: n }, (_, i) => anOp({ opId: `${prefix}-${i + 1}` }));
}
