import { clientMutants } from './mutants/clients.ts';
import { keyMutants } from './mutants/keys.ts';
import { storeMutants } from './mutants/stores.ts';
import type { MemoryParts } from './memory-harness.ts';

/** Models with one thing broken each. A mutant fails the cases that name it, and passes every other. */
export const dedupeMutants: Readonly<Record<string, MemoryParts>> = {
  ...storeMutants,
  ...clientMutants,
  ...keyMutants,
};
