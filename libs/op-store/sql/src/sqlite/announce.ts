import type { Announce } from './command.ts';
import type { Handle } from './open-file.ts';

const ANNOUNCE = `
  INSERT INTO machine_presence (stream_id, machine_id, name, last_seen, interval_secs) VALUES (?, ?, ?, ?, ?)
  ON CONFLICT (stream_id, machine_id)
  DO UPDATE SET name = excluded.name, last_seen = excluded.last_seen, interval_secs = excluded.interval_secs`;

const FORGET = 'DELETE FROM machine_presence WHERE stream_id = ? AND last_seen < ?';

/** To be run inside one write transaction. */
export function prepareAnnounce(handle: Handle): (announce: Announce) => null {
  const announce = handle.prepare(ANNOUNCE);
  const forget = handle.prepare(FORGET);
  return ({ stream, machineId, name, nowSecs, intervalSecs, forgetBeforeSecs }) => {
    announce.run(stream, machineId, name, nowSecs, intervalSecs);
    forget.run(stream, forgetBeforeSecs);
    return null;
  };
}
