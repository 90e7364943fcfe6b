import { deepEqual, equal, ok } from 'node:assert/strict';
import { type DedupeCase, LEASE_MS, RETENTION_MS, SLACK_MS, claimOf, commitKey, keyOf, statusOf } from './harness.ts';

/** The life of one claim: reserved, committed or released, and by whom. */
export const claimCases: readonly DedupeCase[] = [
  {
    title: 'DDP-1: a claimed key carries a token, is in flight while it is held, and a duplicate once committed',
    async run({ open }) {
      const client = await open();
      const claim = await claimOf(client, keyOf('a'));
      deepEqual(claim.key, keyOf('a'));
      ok(claim.token.length > 0);
      equal(await statusOf(client, keyOf('a')), 'in_flight');
      await client.commit([claim], RETENTION_MS);
      equal(await statusOf(client, keyOf('a')), 'duplicate');
      equal(await statusOf(client, keyOf('b')), 'claimed');
    },
  },
  {
    title: 'I8: a released key can be claimed again at once, and committed',
    kills: 'releaseDoesNothing',
    async run({ open }) {
      const client = await open();
      await client.release([await claimOf(client, keyOf('a'))]);
      await commitKey(client, keyOf('a'));
      equal(await statusOf(client, keyOf('a')), 'duplicate');
    },
  },
  {
    title: 'DDP-4: a stale release leaves the new claimant alone',
    kills: 'releaseIgnoresToken',
    async run({ open, time }) {
      const client = await open();
      const stale = await claimOf(client, keyOf('a'));
      time.advance(LEASE_MS + SLACK_MS);
      await claimOf(client, keyOf('a'));
      await client.release([stale]);
      equal(await statusOf(client, keyOf('a')), 'in_flight');
    },
  },
  {
    title: 'DDP-4: releasing a committed claim takes nothing back',
    kills: 'releaseUndoesCommit',
    async run({ open }) {
      const client = await open();
      const claim = await claimOf(client, keyOf('a'));
      await client.commit([claim], RETENTION_MS);
      await client.release([claim]);
      equal(await statusOf(client, keyOf('a')), 'duplicate');
    },
  },
  {
    title:
      'DDP-4: a commit that comes after another caller re-claimed the key lands, and survives the release of that caller',
    kills: 'commitFencedByToken',
    async run({ open, time }) {
      const client = await open();
      const late = await claimOf(client, keyOf('a'));
      time.advance(LEASE_MS + SLACK_MS);
      const second = await claimOf(client, keyOf('a'));
      await client.commit([late], RETENTION_MS);
      await client.release([second]);
      time.advance(LEASE_MS + SLACK_MS);
      equal(await statusOf(client, keyOf('a')), 'duplicate');
    },
  },
  {
    title: 'DDP-1: only claimed claims commit',
    kills: 'commitsEveryStatus',
    async run({ open, time }) {
      const client = await open();
      await claimOf(client, keyOf('a'));
      await client.commit(await client.reserve([keyOf('a')], LEASE_MS), RETENTION_MS);
      time.advance(LEASE_MS + SLACK_MS);
      equal(await statusOf(client, keyOf('a')), 'claimed');
    },
  },
  {
    title: 'DDP-1: a repeated commit is the same commit',
    kills: 'refusesRepeatedCommit',
    async run({ open }) {
      const client = await open();
      const claim = await claimOf(client, keyOf('a'));
      await client.commit([claim], RETENTION_MS);
      await client.commit([claim, claim], RETENTION_MS);
      equal(await statusOf(client, keyOf('a')), 'duplicate');
    },
  },
  {
    title: 'DDP-1: calls without keys do nothing and succeed',
    kills: 'refusesEmptyCalls',
    async run({ open }) {
      const client = await open();
      deepEqual(await client.reserve([], LEASE_MS), []);
      await client.commit([], RETENTION_MS);
      await client.release([]);
    },
  },
];
