import type { PostgresUse } from '@tidemark/libs-driver-postgres';

/** Of views, whose faults an operator reads. The order of ids is the order of their UTF-8 bytes. */
export const VIEWS: PostgresUse = {
  caFileSetting: 'FOLD_PG_CA_FILE',
  sized: 'something',
  needsUtf8: true,
  isTold: () => false,
};
