import type { MemoryParts } from './memory-harness.ts';
import { lifeMutants, publishMutants, waitMutants } from './mutants/brokers.ts';
import { leaseMutants } from './mutants/leases.ts';
import { notificationMutants } from './mutants/notifications.ts';
import { deadLetterMutants, deliverMutants, repeatMutants, storeMutants } from './mutants/queues.ts';

/** Models with one thing broken each. A mutant fails the cases that name it, and passes every other. */
export const brokerMutants: Readonly<Record<string, MemoryParts>> = {
  ...publishMutants,
  ...storeMutants,
  ...repeatMutants,
  ...deliverMutants,
  ...waitMutants,
  ...deadLetterMutants,
  ...lifeMutants,
  ...leaseMutants,
  ...notificationMutants,
};
