import type { AppendOutcome, OpStore, ReadPage, SequencedOp } from '../op-store.ts';

export function seqsOf(outcomes: readonly AppendOutcome[]): bigint[] {
  return outcomes.map((outcome) => outcome.seq);
}

export function idsOf(page: Pick<ReadPage, 'ops'>): string[] {
  return page.ops.map(({ op }) => op.opId);
}

/** Follows the cursor in pages of `limit` until it stands still. */
export async function readAll(store: OpStore, stream: string, limit: number): Promise<SequencedOp[]> {
  const ops: SequencedOp[] = [];
  for (let cursor = 0n; ;) {
    const page = await store.read(stream, cursor, limit);
    if (page.next === cursor) return ops;
    ops.push(...page.ops);
    cursor = page.next;
  }
}
