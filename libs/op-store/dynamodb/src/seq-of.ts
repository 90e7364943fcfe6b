import { claimSeq } from '@tidemark/libs-wire';
import { toSeq } from './op-item.ts';
import type { OpsTable } from './ops-table.ts';

/**
 * The claim tells where the op is; a Query tells that readers see it there. An op that an older writer stored has no claim and is not
 * found, nor one whose claim's key belongs to another op id.
 */
export async function seqOf(table: OpsTable, stream: string, opId: string): Promise<bigint | null> {
  const claim = await table.claim(stream, claimSeq(opId));
  if (claim === null || claim.opId !== opId || claim.opSeq < 1n) return null;
  const { items } = await table.keysBetween(stream, claim.opSeq, claim.opSeq, ['op_id']);
  const item = items[0];
  return item !== undefined && item['op_id']?.S === opId ? toSeq(item) : null;
}
