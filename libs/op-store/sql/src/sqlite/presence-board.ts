import type { PresenceBoard, PresentMachine } from '@tidemark/libs-op-store-contract';
import type { SqliteConnection } from './connection.ts';

type Row = [machineId: string, name: string, lastSeenSecs: bigint, intervalSecs: bigint];

const SEEN = `
  SELECT machine_id, name, last_seen, interval_secs FROM machine_presence
  WHERE stream_id = ? AND last_seen >= ? ORDER BY last_seen DESC, machine_id LIMIT ?`;

export function sqlitePresenceBoard(connection: SqliteConnection): PresenceBoard {
  const { handle } = connection;
  const seen = handle.prepare<[string, bigint, number], Row>(SEEN).raw().safeIntegers();
  return {
    announce: async (stream, { machineId, name, intervalSecs }, nowSecs, forgetBeforeSecs) => {
      const times = { nowSecs, forgetBeforeSecs };
      await connection.write({ kind: 'announce', stream, machineId, name, intervalSecs, ...times });
    },
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
