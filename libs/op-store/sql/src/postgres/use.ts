import type { PostgresUse } from '@tidemark/libs-driver-postgres';
import { isTold } from '../told.ts';

/** Of an op store, whose faults about a value reach the client that sent it. */
export const OPS: PostgresUse = { caFileSetting: 'RELAY_PG_CA_FILE', sized: 'a text', needsUtf8: false, isTold };
