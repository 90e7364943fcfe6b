import type { ConformanceCase } from '@tidemark/libs-kernel/testing';
import { appendCases } from './append-cases.ts';
import { appendMutants } from './append-mutants.ts';
import { concurrencyCases } from './concurrency-cases.ts';
import { fidelityCases } from './fidelity-cases.ts';
import { listingCases } from './listing-cases.ts';
import type { OpStoreHarness, OpStoreMutants } from './op-store-harness.ts';
import { readCases } from './read-cases.ts';
import { readMutants } from './read-mutants.ts';
import { sharingMutants } from './sharing-mutants.ts';

/** Everything that an op store promises; every adapter runs every case. */
export const opStoreConformance: readonly ConformanceCase<OpStoreHarness>[] = [
  ...appendCases,
  ...readCases,
  ...fidelityCases,
  ...concurrencyCases,
  ...listingCases,
];

/** Each fails exactly the cases that name it. */
export const opStoreMutants: OpStoreMutants = { ...appendMutants, ...readMutants, ...sharingMutants };
