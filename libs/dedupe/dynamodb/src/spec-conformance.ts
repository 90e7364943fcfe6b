import type { Deduplicator } from '@tidemark/libs-dedupe-contract';
import type { DedupeCase, DedupeHarness, DedupeManifest } from '@tidemark/libs-dedupe-contract/testing';
import { SpecTable, sdkError, watched } from './spec-table.ts';

/** Ends are whole seconds, rounded up. */
export const manifest: DedupeManifest = { sharedAcrossProcesses: true, expiryRoundsUpMs: 1000 };

/** Runs a case on a table of its own. */
export async function runCase({ run }: DedupeCase, endpoint: string): Promise<void> {
  const table = await SpecTable.make(endpoint);
  let isBroken = false;
  const client = watched(table.client, ({ name, input }) => {
    if (isBroken && name === 'PutItem' && input.Item.pk.S.endsWith('/b')) throw sdkError('InternalServerError');
    if (name === 'DeleteItem') isBroken = false;
  });
  const open = (): Promise<Deduplicator> => table.open({ client });
  const harness: DedupeHarness = { manifest, time: table.time, open, breakNextReserve: () => void (isBroken = true) };
  await run(harness);
}
