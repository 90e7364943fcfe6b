import { equal, ok } from 'node:assert/strict';
import type { Broker, Lease } from '../broker.ts';
import type { BrokerCase, BrokerHarness } from './harness.ts';

const TTL_MS = 1000;

export const leaseCases: readonly BrokerCase[] = [
  {
    title: 'BRK-5: a lease has one owner at a time over all processes',
    kills: 'leaseForEverybody',
    async run(harness) {
      const [a, b] = await twoBrokers(harness);
      await held(a, 'a');
      equal(await b.acquireLease('intake', 'b', TTL_MS), null);
    },
  },
  {
    title: 'BRK-5: leases of different names are nothing to each other',
    kills: 'oneLeaseForAllNames',
    async run(harness) {
      const [a, b] = await twoBrokers(harness);
      await held(a, 'a');
      ok(await b.acquireLease('intake/acme', 'b', TTL_MS));
    },
  },
  {
    title: 'BRK-5: the owner gets its lease anew, after a restart',
    kills: 'ownerIsLockedOut',
    async run(harness) {
      const [a, b] = await twoBrokers(harness);
      await held(a, 'a');
      ok(await b.acquireLease('intake', 'a', TTL_MS));
    },
  },
  {
    title: 'BRK-5: an abandoned lease is free after its time',
    kills: 'leaseNeverEnds',
    async run(harness) {
      const [a, b] = await twoBrokers(harness);
      await held(a, 'a');
      await harness.pass(TTL_MS * 1.2);
      ok(await b.acquireLease('intake', 'b', TTL_MS));
    },
  },
  {
    title: 'BRK-5: a renewed lease runs for its full time again',
    kills: 'renewProlongsNothing',
    alsoFails: ['leaseForEverybody'],
    async run(harness) {
      const [a, b] = await twoBrokers(harness);
      const lease = await held(a, 'a');
      await harness.pass(TTL_MS * 0.8);
      ok(await lease.renew());
      await harness.pass(TTL_MS * 0.8);
      equal(await b.acquireLease('intake', 'b', TTL_MS), null);
    },
  },
  {
    title: 'BRK-5: a released lease is free at once',
    kills: 'releaseKeepsTheLease',
    async run(harness) {
      const [a, b] = await twoBrokers(harness);
      const lease = await held(a, 'a');
      await lease.release();
      ok(await held(b, 'b'));
      equal(await lease.renew(), false);
    },
  },
  {
    title: 'BRK-5: a lease that ran out is not renewed, also when nobody took it',
    kills: 'renewsWhatRanOut',
    alsoFails: ['leaseNeverEnds'],
    async run(harness) {
      const [a] = await twoBrokers(harness);
      const lease = await held(a, 'a');
      await harness.pass(TTL_MS * 1.2);
      equal(await lease.renew(), false);
    },
  },
  {
    title: 'BRK-5: who lost a lease neither renews nor frees the one of its new owner',
    kills: 'releaseFreesOthers',
    alsoFails: ['leaseForEverybody', 'ownerIsLockedOut'],
    async run(harness) {
      const [a, b] = await twoBrokers(harness);
      const lost = await held(a, 'a');
      const taken = await held(b, 'a');
      equal(await lost.renew(), false);
      await lost.release();
      equal(await b.acquireLease('intake', 'c', TTL_MS), null);
      ok(await taken.renew());
    },
  },
];

async function twoBrokers(harness: BrokerHarness): Promise<[Broker, Broker]> {
  return [await harness.open(), await harness.open()];
}

async function held(broker: Broker, owner: string): Promise<Lease> {
  const lease = await broker.acquireLease('intake', owner, TTL_MS);
  ok(lease, `${owner} gets the lease`);
  return lease;
}
