import { Fault } from '@tidemark/libs-kernel';
import { PREFIX_CANDIDATES_MAX, type PrefixRegistry, type Registration } from '@tidemark/libs-op-store-contract';
import { prefixCandidates } from '@tidemark/libs-wire';
import { OWNED, OWNER } from './claim.ts';
import type { SqliteConnection } from './connection.ts';

/**
 * A replica asks again before every sync, so the answer to a known one takes no write: claims never change. A new one claims the prefix that
 * looks free, and looks again when another replica was faster.
 */
export function sqlitePrefixRegistry(
  connection: SqliteConnection,
  candidatesMax = PREFIX_CANDIDATES_MAX,
): PrefixRegistry {
  const { handle } = connection;
  const owned = handle.prepare<[string, string], string>(OWNED).pluck();
  const owner = handle.prepare<[string, string]>(OWNER);

  const freeFor = (stream: string, asked: string, replicaUuid: string): string => {
    const isFree = (prefix: string): boolean => owner.get(stream, prefix) === undefined;
    return isFree(asked) ? asked : firstFreeCandidate(replicaUuid, candidatesMax, isFree);
  };

  return {
    async register(stream, asked, replicaUuid) {
      for (;;) {
        const known = await connection.read(() => owned.get(stream, replicaUuid));
        if (known !== undefined) return answer(asked, known);
        const prefix = await connection.read(() => freeFor(stream, asked, replicaUuid));
        const claimed = await connection.write({ kind: 'claim', stream, prefix, replicaUuid });
        if (claimed !== null) return answer(asked, claimed);
      }
    },
  };
}

function firstFreeCandidate(replicaUuid: string, candidatesMax: number, isFree: (prefix: string) => boolean): string {
  const candidate = prefixCandidates(replicaUuid);
  for (let n = 0; n < candidatesMax; n++) {
    if (isFree(candidate(n))) return candidate(n);
  }
  throw new Fault('unavailable', `prefix space exhausted: none of ${candidatesMax} candidates is free`);
}

function answer(asked: string, owned: string): Registration {
  return asked === owned ? { outcome: 'registered' } : { outcome: 'reassigned', newPrefix: owned };
}
