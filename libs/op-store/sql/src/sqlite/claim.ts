import type { Claim } from './command.ts';
import type { Handle } from './open-file.ts';

export const OWNED = 'SELECT prefix FROM prefix_claims WHERE stream_id = ? AND replica_uuid = ?';
export const OWNER = 'SELECT 1 FROM prefix_claims WHERE stream_id = ? AND prefix = ?';

/** To be run inside one write transaction. A replica keeps the prefix that it has. */
export function prepareClaim(handle: Handle): (claim: Claim) => string | null {
  const owned = handle.prepare<[string, string], string>(OWNED).pluck();
  const owner = handle.prepare<[string, string]>(OWNER);
  const claim = handle.prepare('INSERT INTO prefix_claims (stream_id, prefix, replica_uuid) VALUES (?, ?, ?)');
  return ({ stream, prefix, replicaUuid }) => {
    const already = owned.get(stream, replicaUuid);
    if (already !== undefined) return already;
    if (owner.get(stream, prefix) !== undefined) return null;
    claim.run(stream, prefix, replicaUuid);
    return prefix;
  };
}
