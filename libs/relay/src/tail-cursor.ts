import type { OpStore } from '@tidemark/libs-op-store-contract';

/** A cursor that no reader can have been given: the stream's head is below it (RLY-17). */
export interface AboveHead {
  readonly kind: 'above_head';
  readonly head: bigint;
}

/**
 * Judges a cursor beyond which a read found nothing. A store's head may lag behind an op that a reader was shown already; that op is
 * then still readable, and the cursor is right.
 */
export async function aboveHead(
  opStore: Pick<OpStore, 'head' | 'read'>,
  stream: string,
  cursor: bigint,
): Promise<AboveHead | null> {
  if (cursor <= 0n) return null;
  const head = await opStore.head(stream);
  if (cursor <= head) return null;
  const { ops } = await opStore.read(stream, cursor - 1n, 1);
  return ops.some(({ seq }) => seq >= cursor) ? null : { kind: 'above_head', head };
}
