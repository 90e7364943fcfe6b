import { deepEqual, equal } from 'node:assert/strict';
import { LEASE_MS_DEFAULT } from '@tidemark/libs-kernel';
import {
  type DedupeCase,
  LEASE_MS,
  RETENTION_MS,
  SLACK_MS,
  claimOf,
  commitKey,
  keyOf,
  statusOf,
  statuses,
} from './harness.ts';

const TEN_YEARS_MS = 10 * 365 * 86_400_000;

/** When a lease and a retention end. */
export const expiryCases: readonly DedupeCase[] = [
  {
    title: 'DDP-1: a claim is held to the last millisecond of its lease',
    kills: 'leaseEndsEarly',
    async run({ open, time }) {
      const client = await open();
      await claimOf(client, keyOf('a'), 2_000);
      time.advance(1_999);
      equal(await statusOf(client, keyOf('a')), 'in_flight');
    },
  },
  {
    title: 'I4: an abandoned claim can be claimed again when its lease has ended',
    kills: 'leaseEndsLate',
    async run({ open, time, manifest }) {
      const client = await open();
      await claimOf(client, keyOf('a'), 2_000);
      time.advance(2_000 + manifest.expiryRoundsUpMs);
      await commitKey(client, keyOf('a'));
      equal(await statusOf(client, keyOf('a')), 'duplicate');
    },
  },
  {
    title: 'DDP-1: a lease that is not positive is the default lease, not one that has lapsed',
    kills: 'leaseZeroLapses',
    async run({ open, time }) {
      const client = await open();
      await client.reserve([keyOf('zero')], 0);
      await client.reserve([keyOf('negative')], -5);
      time.advance(LEASE_MS_DEFAULT - SLACK_MS);
      const claims = await client.reserve([keyOf('zero'), keyOf('negative')], LEASE_MS);
      deepEqual(statuses(claims), ['in_flight', 'in_flight']);
    },
  },
  {
    title: 'DDP-5: a committed id is a duplicate to the last millisecond of its retention',
    kills: 'retentionEndsEarly',
    async run({ open, time }) {
      const client = await open();
      await commitKey(client, keyOf('a'));
      time.advance(RETENTION_MS - 1);
      equal(await statusOf(client, keyOf('a')), 'duplicate');
    },
  },
  {
    title: 'DDP-5: a committed id can be claimed again when its retention has ended, swept or not',
    kills: 'retentionEndsLate',
    async run({ open, time, manifest }) {
      const client = await open();
      await commitKey(client, keyOf('a'));
      time.advance(RETENTION_MS + manifest.expiryRoundsUpMs);
      equal(await statusOf(client, keyOf('a')), 'claimed');
    },
  },
  {
    title: 'DDP-5: a retention that is not positive never ends, nor does one too long to count',
    kills: 'retentionZeroEnds',
    async run({ open, time }) {
      const client = await open();
      await commitKey(client, keyOf('zero'), 0);
      await commitKey(client, keyOf('negative'), -1);
      await commitKey(client, keyOf('huge'), Number.MAX_SAFE_INTEGER);
      time.advance(TEN_YEARS_MS);
      for (const id of ['zero', 'negative', 'huge']) equal(await statusOf(client, keyOf(id)), 'duplicate');
    },
  },
  {
    title: 'DDP-5: each commit keeps its own retention',
    kills: 'lastRetentionForAll',
    async run({ open, time }) {
      const client = await open();
      await commitKey(client, keyOf('short'), RETENTION_MS);
      await commitKey(client, keyOf('long'), 2 * RETENTION_MS);
      time.advance(RETENTION_MS + SLACK_MS);
      deepEqual(statuses(await client.reserve([keyOf('short'), keyOf('long')], LEASE_MS)), ['claimed', 'duplicate']);
    },
  },
];
