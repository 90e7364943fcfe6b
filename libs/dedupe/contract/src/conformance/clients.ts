import { deepEqual, equal, rejects } from 'node:assert/strict';
import { Fault } from '@tidemark/libs-kernel';
import { type Claim, type Deduplicator } from '../deduplicator.ts';
import { type DedupeCase, LEASE_MS, RETENTION_MS, claimOf, commitKey, keyOf, statusOf, statuses } from './harness.ts';

/** Callers that meet: concurrent calls, several clients of one store, clients that come and go. */
export const clientCases: readonly DedupeCase[] = [
  {
    title:
      'DDP-2: of 64 concurrent reserves exactly one is claimed and the rest in flight; after the commit all are duplicates',
    kills: 'checksThenMarks',
    async run({ open }) {
      const client = await open();
      await oneOf64Claims([client]);
    },
  },
  {
    title: 'DDP-2: of 64 concurrent reserves through two clients exactly one is claimed',
    kills: 'clientsKeepTheirClaims',
    alsoFails: ['checksThenMarks'],
    needs: 'sharedAcrossProcesses',
    async run({ open }) {
      await oneOf64Claims([await open(), await open()]);
    },
  },
  {
    title: 'DDP-2: concurrent reserves of the same keys in opposite orders both answer, and every key is claimed once',
    kills: 'checksThenMarks',
    async run({ open }) {
      const client = await open();
      const keys = Array.from({ length: 50 }, (_, i) => keyOf(`id-${i}`));
      await commitKey(client, keys[25]!);
      const [forth, back] = await Promise.all([
        client.reserve(keys, LEASE_MS),
        client.reserve(keys.toReversed(), LEASE_MS),
      ]);
      const pairs = forth.map((claim, i) =>
        statuses([claim, back[49 - i]!])
          .sort()
          .join(),
      );
      deepEqual(
        pairs,
        keys.map((_, i) => (i === 25 ? 'duplicate,duplicate' : 'claimed,in_flight')),
      );
    },
  },
  {
    title: 'DDP-3: concurrent commits all land',
    kills: 'joinedCommitsLoseAllButOne',
    async run({ open }) {
      const client = await open();
      const keys = Array.from({ length: 40 }, (_, i) => keyOf(`id-${i}`));
      await Promise.all(keys.map((key) => commitKey(client, key)));
      deepEqual(
        statuses(await client.reserve(keys, LEASE_MS)),
        keys.map(() => 'duplicate'),
      );
    },
  },
  {
    title: 'DDP-1: a client sees the claims and the commits of another',
    kills: 'clientsKeepTheirClaims',
    needs: 'sharedAcrossProcesses',
    async run({ open }) {
      const [one, other] = [await open(), await open()];
      const claim = await claimOf(one, keyOf('a'));
      equal(await statusOf(other, keyOf('a')), 'in_flight');
      await one.commit([claim], RETENTION_MS);
      equal(await statusOf(other, keyOf('a')), 'duplicate');
    },
  },
  {
    title: 'I37: committed ids are duplicates for a client that comes later',
    kills: 'closeForgets',
    async run({ open }) {
      const first = await open();
      await commitKey(first, keyOf('a'));
      await first.close();
      equal(await statusOf(await open(), keyOf('a')), 'duplicate');
    },
  },
  {
    title: 'DDP-1: closing twice is fine, and a closed client answers unavailable',
    kills: 'answersAfterClose',
    async run({ open }) {
      const client = await open();
      await client.ping();
      const claim = await claimOf(client, keyOf('a'));
      await Promise.all([client.close(), client.close()]);
      await client.close();
      const calls = [
        () => client.reserve([keyOf('a')], LEASE_MS),
        () => client.commit([claim], RETENTION_MS),
        () => client.release([claim]),
        () => client.ping(),
      ];
      for (const call of calls) await rejects(call, (fault) => fault instanceof Fault && fault.code === 'unavailable');
    },
  },
];

async function oneOf64Claims(clients: readonly Deduplicator[]): Promise<void> {
  const claims = await reserve64(clients);
  deepEqual(statuses(claims).sort(), ['claimed', ...Array.from({ length: 63 }, () => 'in_flight')]);
  await clients[0]!.commit(claims, RETENTION_MS);
  deepEqual(new Set(statuses(await reserve64(clients))), new Set(['duplicate']));
}

async function reserve64(clients: readonly Deduplicator[]): Promise<Claim[]> {
  const calls = Array.from({ length: 64 }, (_, i) => clients[i % clients.length]!.reserve([keyOf('a')], LEASE_MS));
  return (await Promise.all(calls)).flat();
}
