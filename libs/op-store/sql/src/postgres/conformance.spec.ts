import {
  opStoreConformance,
  prefixRegistryConformance,
  presenceBoardConformance,
} from '@tidemark/libs-op-store-contract/testing';
import type { Op } from '@tidemark/libs-wire';
import { serverTests } from '@tidemark/tools-services/testing';
import { OP_COLUMN_NAMES, OP_COLUMNS } from './op-row.ts';
import { Scratch } from './scratch.ts';

const postgresTest = serverTests('postgres');

function cases<Harness>(
  conformance: readonly { readonly title: string; run(harness: Harness): Promise<void> }[],
  harness: (scratch: Scratch) => Harness,
): void {
  for (const { title, run } of conformance) {
    postgresTest(
      title,
      async ({ endpoint }) => {
        const scratch = await new Scratch(endpoint).make();
        try {
          await run(harness(scratch));
        } finally {
          await scratch.remove();
        }
      },
      60_000,
    );
  }
}

describe('the op store in Postgres', () => {
  cases(opStoreConformance, (scratch) => ({
    open: async () => (await scratch.open()).opStore,
    plant: (stream, seq, op) => plant(scratch, stream, seq, op),
  }));
});

describe('the prefix registry in Postgres', () => {
  cases(prefixRegistryConformance, (scratch) => ({ open: async () => (await scratch.open()).prefixRegistry }));
});

describe('the presence board in Postgres', () => {
  cases(presenceBoardConformance, (scratch) => ({ open: async () => (await scratch.open()).presenceBoard }));
});

async function plant(scratch: Scratch, stream: string, seq: bigint, op: Op): Promise<void> {
  await (await scratch.open()).close();
  const other = await scratch.client();
  const places = OP_COLUMNS.map((_, i) => `$${i + 3}`).join(', ');
  await other.query(`INSERT INTO stream_ops (stream_id, seq, ${OP_COLUMN_NAMES}) VALUES ($1, $2, ${places})`, [
    stream,
    seq,
    ...OP_COLUMNS.map(({ field }) => op[field]),
  ]);
}
