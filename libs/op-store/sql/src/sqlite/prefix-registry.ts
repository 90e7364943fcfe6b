import { Fault } from '@tidemark/libs-kernel';
import { PREFIX_CANDIDATES_MAX, type PrefixRegistry, type Registration } from '@tidemark/libs-op-store-contract';
import { prefixCandidate } from '@tidemark/libs-wire';
import type { SqliteConnection } from './connection.ts';

/** A replica asks again before every sync, so the answer to a known one takes no write lock: claims never change. */
export function sqlitePrefixRegistry(
  connection: SqliteConnection,
  candidatesMax = PREFIX_CANDIDATES_MAX,
): PrefixRegistry {
  const { handle } = connection;
  const owned = handle.prepare<[string, string], string>(
    'SELECT prefix FROM prefix_claims WHERE stream_id = ? AND replica_uuid = ?',
  );
  const owner = handle.prepare('SELECT 1 FROM prefix_claims WHERE stream_id = ? AND prefix = ?');
  const claim = handle.prepare('INSERT INTO prefix_claims (stream_id, prefix, replica_uuid) VALUES (?, ?, ?)');
  owned.pluck();

  const claimFor = (stream: string, asked: string, replicaUuid: string): string => {
    const already = owned.get(stream, replicaUuid);
    if (already !== undefined) return already;
    const isFree = (prefix: string): boolean => owner.get(stream, prefix) === undefined;
    const prefix = isFree(asked) ? asked : firstFreeCandidate(replicaUuid, candidatesMax, isFree);
    claim.run(stream, prefix, replicaUuid);
    return prefix;
  };

  return {
    async register(stream, prefix, replicaUuid) {
      const known = await connection.read(() => owned.get(stream, replicaUuid));
      return answer(prefix, known ?? (await connection.write(() => claimFor(stream, prefix, replicaUuid))));
    },
  };
}

function firstFreeCandidate(replicaUuid: string, candidatesMax: number, isFree: (prefix: string) => boolean): string {
  for (let n = 0; n < candidatesMax; n++) {
    const candidate = prefixCandidate(replicaUuid, n);
    if (isFree(candidate)) return candidate;
  }
  throw new Fault('unavailable', `prefix space exhausted: none of ${candidatesMax} candidates is free`);
}

function answer(asked: string, owned: string): Registration {
  return asked === owned ? { outcome: 'registered' } : { outcome: 'reassigned', newPrefix: owned };
}
