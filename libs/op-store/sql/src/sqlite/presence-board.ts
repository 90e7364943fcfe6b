import type { PresenceBoard, PresentMachine } from '@tidemark/libs-op-store-contract';
import type { SqliteConnection } from './connection.ts';

type Row = [machineId: string, name: string, lastSeenSecs: bigint, intervalSecs: bigint];

const ANNOUNCE = `
  INSERT INTO machine_presence (stream_id, machine_id, name, last_seen, interval_secs) VALUES (?, ?, ?, ?, ?)
  ON CONFLICT (stream_id, machine_id)
  DO UPDATE SET name = excluded.name, last_seen = excluded.last_seen, interval_secs = excluded.interval_secs`;

const FORGET = 'DELETE FROM machine_presence WHERE stream_id = ? AND last_seen < ?';

const SEEN = `
  SELECT machine_id, name, last_seen, interval_secs FROM machine_presence
  WHERE stream_id = ? AND last_seen >= ? ORDER BY last_seen DESC, machine_id LIMIT ?`;

export function sqlitePresenceBoard(connection: SqliteConnection): PresenceBoard {
  const { handle } = connection;
  const announce = handle.prepare(ANNOUNCE);
  const forget = handle.prepare(FORGET);
  const seen = handle.prepare<[string, bigint, number], Row>(SEEN).raw().safeIntegers();
  return {
    announce: (stream, { machineId, name, intervalSecs }, nowSecs, forgetBeforeSecs) =>
      connection.write(() => {
        announce.run(stream, machineId, name, nowSecs, intervalSecs);
        forget.run(stream, forgetBeforeSecs);
      }),
    machines: (stream, seenSinceSecs, limit) =>
      connection.read(() => {
        const machines: PresentMachine[] = [];
        for (const row of seen.iterate(stream, seenSinceSecs, limit + 1)) machines.push(toMachine(row));
        return { machines: machines.slice(0, limit), truncated: machines.length > limit };
      }),
  };
}

function toMachine([machineId, name, lastSeenSecs, intervalSecs]: Row): PresentMachine {
  return { machineId, name, lastSeenSecs, intervalSecs };
}
