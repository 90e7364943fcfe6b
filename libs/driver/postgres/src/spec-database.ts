import { parseAddress } from './address.ts';
import { PostgresConnection } from './connection.ts';
import { openPool } from './open-pool.ts';
import type { PostgresUse } from './use.ts';

/** An adapter whose faults about a value are told. */
export const USE: PostgresUse = {
  caFileSetting: 'SPEC_CA_FILE',
  sized: 'a thing',
  needsUtf8: true,
  isTold: (code) => code === 'too_large' || code === 'invalid',
};

/** Without TLS. */
export async function open(endpoint: string, { poolMax = 1, lockTimeoutMs = 1000 } = {}): Promise<PostgresConnection> {
  const { dataSource, pool } = await openPool(parseAddress(endpoint), false, {
    use: USE,
    poolMax,
    acquireTimeoutMs: 10_000,
  });
  return new PostgresConnection({ where: 'here', use: USE, lockTimeoutMs }, dataSource, pool);
}
