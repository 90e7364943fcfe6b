import { deepEqual, equal, rejects } from 'node:assert/strict';
import { Fault } from '@tidemark/libs-kernel';
import { type DedupeCase, LEASE_MS, RETENTION_MS, commitKey, keyOf, statusOf, statuses } from './harness.ts';

/** Calls of many keys: repeats, order, all or nothing. */
export const callCases: readonly DedupeCase[] = [
  {
    title: 'DDP-1: a key repeated in one call is a duplicate after its first place, and the commit covers it once',
    kills: 'repeatGetsFirstAnswer',
    async run({ open }) {
      const client = await open();
      const claims = await client.reserve(
        ['a', 'b', 'a', 'a'].map((id) => keyOf(id)),
        LEASE_MS,
      );
      deepEqual(statuses(claims), ['claimed', 'claimed', 'duplicate', 'duplicate']);
      const again = await client.reserve([keyOf('a'), keyOf('a')], LEASE_MS);
      deepEqual(statuses(again), ['in_flight', 'duplicate']);
      await client.commit(claims, RETENTION_MS);
      deepEqual(statuses(await client.reserve([keyOf('a'), keyOf('b')], LEASE_MS)), ['duplicate', 'duplicate']);
    },
  },
  {
    title: 'DDP-1: 300 keys, every second one committed, are answered in input order',
    kills: 'chunksOutOfOrder',
    async run({ open }) {
      const client = await open();
      const keys = Array.from({ length: 300 }, (_, i) => keyOf(`id-${i}`));
      const even = await client.reserve(
        keys.filter((_, i) => i % 2 === 0),
        LEASE_MS,
      );
      await client.commit(even, RETENTION_MS);
      const claims = await client.reserve(keys, LEASE_MS);
      deepEqual(
        statuses(claims),
        keys.map((_, i) => (i % 2 === 0 ? 'duplicate' : 'claimed')),
      );
      deepEqual(
        claims.map((claim) => claim.key),
        keys,
      );
    },
  },
  {
    title: 'DDP-1: a reserve that failed after some of its keys holds none of them',
    kills: 'keepsClaimsOfFailedReserve',
    async run({ open, breakNextReserve }) {
      const client = await open();
      const keys = ['a', 'b', 'c'].map((id) => keyOf(id));
      breakNextReserve();
      await rejects(client.reserve(keys, LEASE_MS), (fault) => fault instanceof Fault && fault.code === 'unavailable');
      deepEqual(statuses(await client.reserve(keys, LEASE_MS)), ['claimed', 'claimed', 'claimed']);
    },
  },
  {
    title: 'I7: an id stays a duplicate however many other ids follow it',
    kills: 'forgetsByCount',
    isLarge: true,
    async run({ open }) {
      const client = await open();
      await commitKey(client, keyOf('first'));
      for (let window = 0; window < 24; window++) {
        const keys = Array.from({ length: 256 }, (_, i) => keyOf(`${window}-${i}`));
        await client.commit(await client.reserve(keys, LEASE_MS), RETENTION_MS);
      }
      equal(await statusOf(client, keyOf('first')), 'duplicate');
    },
  },
];
