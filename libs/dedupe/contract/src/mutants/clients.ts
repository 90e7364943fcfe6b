import { Fault } from '@tidemark/libs-kernel';
import { storedKeyOf, type StoredId } from '../answer-repeats.ts';
import type { Claim, DedupeKey } from '../deduplicator.ts';
import { MemoryDedupeStore } from '../memory-dedupe-store.ts';
import { MemoryDeduplicator } from '../memory-deduplicator.ts';
import { type MemoryParts, soundParts } from '../memory-harness.ts';

const CHUNK = 256;

/** Calls of a client, broken. */
export const clientMutants: Readonly<Record<string, MemoryParts>> = {
  checksThenMarks: withClient(
    class extends MemoryDeduplicator {
      protected override async reserveDistinct(ids: readonly StoredId[], leaseMs: number): Promise<readonly Claim[]> {
        const found = ids.map(({ stored }) => this.store.look(stored));
        await undefined;
        return ids.map(({ key, stored }, i) => {
          const status = found[i]!;
          return status === 'free'
            ? { status: 'claimed', key, token: this.store.hold(stored, leaseMs) }
            : { status, key };
        });
      }
    },
  ),
  chunksOutOfOrder: withClient(
    class extends MemoryDeduplicator {
      protected override async reserveDistinct(ids: readonly StoredId[], leaseMs: number): Promise<readonly Claim[]> {
        const first = await super.reserveDistinct(ids.slice(0, CHUNK), leaseMs);
        return [...(await super.reserveDistinct(ids.slice(CHUNK), leaseMs)), ...first];
      }
    },
  ),
  keepsClaimsOfFailedReserve: withClient(
    class extends MemoryDeduplicator {
      protected override async reserveDistinct(ids: readonly StoredId[], leaseMs: number): Promise<readonly Claim[]> {
        return ids.map((id) => this.reserveOne(id, leaseMs));
      }
    },
  ),
  repeatGetsFirstAnswer: withClient(
    class extends MemoryDeduplicator {
      override async reserve(keys: readonly DedupeKey[], leaseMs: number): Promise<readonly Claim[]> {
        const claims = await super.reserve(keys, leaseMs);
        const firsts = new Map<string, Claim>();
        for (const claim of claims.toReversed()) firsts.set(storedKeyOf(claim.key), claim);
        return keys.map((key) => firsts.get(storedKeyOf(key))!);
      }
    },
  ),
  leaseZeroLapses: withClient(
    class extends MemoryDeduplicator {
      override reserve(keys: readonly DedupeKey[], leaseMs: number): Promise<readonly Claim[]> {
        return super.reserve(keys, Math.max(leaseMs, 1));
      }
    },
  ),
  refusesEmptyCalls: withClient(
    class extends MemoryDeduplicator {
      override async reserve(keys: readonly DedupeKey[], leaseMs: number): Promise<readonly Claim[]> {
        if (keys.length === 0) throw new Fault('invalid', 'no keys');
        return super.reserve(keys, leaseMs);
      }
    },
  ),
  commitsEveryStatus: withClient(
    class extends MemoryDeduplicator {
      override commit(claims: readonly Claim[], retentionMs: number): Promise<void> {
        return super.commit(
          claims.map((claim) => ({ token: '', ...claim, status: 'claimed' })),
          retentionMs,
        );
      }
    },
  ),
  joinedCommitsLoseAllButOne: withClient(
    class extends MemoryDeduplicator {
      #last = 0;
      override async commit(claims: readonly Claim[], retentionMs: number): Promise<void> {
        const mine = ++this.#last;
        await undefined;
        if (mine === this.#last) await super.commit(claims, retentionMs);
      }
    },
  ),
  releaseDoesNothing: withClient(
    class extends MemoryDeduplicator {
      override async release(): Promise<void> {
        await this.ping();
      }
    },
  ),
  answersAfterClose: withClient(
    class extends MemoryDeduplicator {
      override async close(): Promise<void> {}
    },
  ),
  closeForgets: {
    Store: MemoryDedupeStore,
    connect: (store) => {
      const client = new MemoryDeduplicator(store);
      const close = client.close.bind(client);
      client.close = () => {
        store.look = () => 'free';
        return close();
      };
      return client;
    },
  },
  clientsKeepTheirClaims: withClient(
    class extends MemoryDeduplicator {
      readonly #claimed = new Set<string>();
      protected override reserveOne(id: StoredId, leaseMs: number): Claim {
        const foreign = this.store.look(id.stored) === 'in_flight' && !this.#claimed.has(id.stored);
        this.#claimed.add(id.stored);
        if (!foreign) return super.reserveOne(id, leaseMs);
        return { status: 'claimed', key: id.key, token: this.store.hold(id.stored, leaseMs) };
      }
    },
  ),
};

function withClient(Client: typeof MemoryDeduplicator): MemoryParts {
  return { ...soundParts, connect: (store) => new Client(store) };
}
