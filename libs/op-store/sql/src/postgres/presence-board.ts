import type { PostgresConnection } from '@tidemark/libs-driver-postgres';
import type { PresenceBoard } from '@tidemark/libs-op-store-contract';
import { assertStorable, isStorable } from './refusal.ts';

const ANNOUNCE = `
  INSERT INTO machine_presence (stream_id, machine_id, name, last_seen, interval_secs) VALUES ($1, $2, $3, $4, $5)
  ON CONFLICT (stream_id, machine_id)
  DO UPDATE SET name = excluded.name, last_seen = excluded.last_seen, interval_secs = excluded.interval_secs`;

/** Rows that another announcement holds are left to it: waiting for each other would be a deadlock. */
const FORGET = `
  DELETE FROM machine_presence WHERE (stream_id, machine_id) IN (
    SELECT stream_id, machine_id FROM machine_presence WHERE stream_id = $1 AND last_seen < $2 FOR UPDATE SKIP LOCKED)`;

const SEEN = `
  SELECT machine_id, name, last_seen, interval_secs FROM machine_presence
  WHERE stream_id = $1 AND last_seen >= $2 ORDER BY last_seen DESC, machine_id COLLATE "C" LIMIT $3`;

export function postgresPresenceBoard(connection: PostgresConnection): PresenceBoard {
  return {
    async announce(stream, { machineId, name, intervalSecs }, nowSecs, forgetBeforeSecs) {
      assertStorable(stream, { machine_id: machineId, name });
      await connection.write([
        { text: ANNOUNCE, values: [stream, machineId, name, nowSecs, intervalSecs] },
        { text: FORGET, values: [stream, forgetBeforeSecs] },
      ]);
    },
    async machines(stream, seenSinceSecs, limit) {
      if (!isStorable(stream)) return { machines: [], truncated: false };
      const values = [stream, seenSinceSecs, limit + 1];
      const rows = await connection.read<[string, string, bigint, bigint]>({ text: SEEN, values });
      const machines = rows
        .slice(0, limit)
        .map(([machineId, name, lastSeenSecs, intervalSecs]) => ({ machineId, name, lastSeenSecs, intervalSecs }));
      return { machines, truncated: rows.length > limit };
    },
  };
}
