import type { PostgresConnection } from '@tidemark/libs-driver-postgres';
import { Fault } from '@tidemark/libs-kernel';
import { PREFIX_CANDIDATES_MAX, type PrefixRegistry, type Registration } from '@tidemark/libs-op-store-contract';
import { prefixCandidates } from '@tidemark/libs-wire';
import { assertStorable } from './refusal.ts';
import { streamLock } from './stream-lock.ts';

const OWNED = 'SELECT prefix FROM prefix_claims WHERE stream_id = $1 AND replica_uuid = $2';

/** Claims the first of the given prefixes that is free, unless the replica owns one. */
const CLAIM = `
  INSERT INTO prefix_claims (stream_id, prefix, replica_uuid)
  SELECT $1, given.prefix, $2 FROM unnest($3::text[]) WITH ORDINALITY AS given (prefix, nth)
  WHERE NOT EXISTS (SELECT FROM prefix_claims taken WHERE taken.stream_id = $1 AND taken.prefix = given.prefix)
    AND NOT EXISTS (SELECT FROM prefix_claims owned WHERE owned.stream_id = $1 AND owned.replica_uuid = $2)
  ORDER BY nth LIMIT 1`;

/** Candidates sent at once, more from one time to the next: the first one is nearly always free. */
const CANDIDATES_FIRST = 8;
const CANDIDATES_MAX = 4096;

/** A replica asks again before every sync, so the answer to a known one takes no lock: claims never change. */
export function postgresPrefixRegistry(
  connection: PostgresConnection,
  candidatesMax = PREFIX_CANDIDATES_MAX,
): PrefixRegistry {
  return {
    async register(stream, prefix, replicaUuid) {
      assertStorable(stream, { prefix, replica_uuid: replicaUuid });
      const owned = { text: OWNED, values: [stream, replicaUuid] };
      const [known] = await connection.read<[string]>(owned);
      if (known !== undefined) return answer(prefix, known[0]);
      for (const prefixes of wishes(prefix, replicaUuid, candidatesMax)) {
        const claim = { text: CLAIM, values: [stream, replicaUuid, prefixes] };
        // What was taken at the first try is taken at the next: claims are never released, so the tries need not be one transaction.
        const answers = await connection.write<[string]>([streamLock(2, stream), claim, owned]);
        const claimed = answers[2]?.[0];
        if (claimed !== undefined) return answer(prefix, claimed[0]);
      }
      throw new Fault('unavailable', `prefix space exhausted: none of ${candidatesMax} candidates is free`);
    },
  };
}

/** The asked prefix and the replica's candidates, in their order, some at a time. */
function* wishes(asked: string, replicaUuid: string, candidatesMax: number): Generator<string[]> {
  let prefixes = [asked];
  const candidate = prefixCandidates(replicaUuid);
  for (let n = 0, many = CANDIDATES_FIRST; n < candidatesMax; many = Math.min(many * 8, CANDIDATES_MAX)) {
    for (const end = Math.min(n + many, candidatesMax); n < end; n++) prefixes.push(candidate(n));
    yield prefixes;
    prefixes = [];
  }
}

function answer(asked: string, owned: string): Registration {
  return asked === owned ? { outcome: 'registered' } : { outcome: 'reassigned', newPrefix: owned };
}
