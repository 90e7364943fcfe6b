import { serverTests } from '@tidemark/tools-services/testing';
import { SpecBroker, realTime } from './spec-broker.ts';
import { operatorOf } from './spec-operator.ts';
import { cutProxy } from './spec-proxy.ts';

const natsTest = serverTests('nats');
const TTL_MS = 500;

let spec: SpecBroker;
afterEach(() => spec.end());

// kills: leases.ts: return this.#sightings.ageMs(subject, word.nonce) >= word.ttlMs; => return true;
natsTest(
  'BRK-5: who comes after a holder was lost waits a full term of its own before it takes the lease',
  async (nats) => {
    spec = new SpecBroker(nats.endpoint);
    await (await spec.open()).acquireLease('intake', 'a', TTL_MS);
    await spec.pass(TTL_MS * 2);
    const late = await spec.open();
    expect(await late.acquireLease('intake', 'late', TTL_MS)).toBeNull();
    await spec.pass(TTL_MS * 1.2);
    expect(await late.acquireLease('intake', 'late', TTL_MS)).not.toBeNull();
  },
);

natsTest('BRK-5: no lease is judged by a wall clock', async (nats) => {
  spec = new SpecBroker(nats.endpoint);
  const holder = await spec.open({ clock: { ...realTime, now: () => 0 } });
  const other = await spec.open({ clock: { ...realTime, now: () => Date.now() + 1e9 } });
  const lease = await holder.acquireLease('intake', 'a', 60_000);
  expect(await other.acquireLease('intake', 'b', 60_000)).toBeNull();
  expect(await lease!.renew()).toBe(true);
});

// kills: leases.ts: return current?.word.nonce === nonce ? { seq: current.seq, sentAtMs } : null; => return null;
natsTest('BRK-5: a word about a lease whose answer was lost is known for our own', async (nats) => {
  await using proxy = await cutProxy(nats.endpoint);
  spec = new SpecBroker(proxy.endpoint, { timeoutMs: 2000, patienceMs: 20_000 });
  const broker = await spec.open();
  const lease = await broker.acquireLease('intake', 'a', 60_000);
  proxy.loseAnswers();
  expect(await lease!.renew()).toBe(true);
  expect(proxy.cuts).toBe(1);
  await lease!.release();
  expect(await lease!.renew()).toBe(false);
});

// kills: leases.ts: , lastSubjectSequence: over } => }
natsTest('BRK-5: of many who want a free lease at the same time one gets it', async (nats) => {
  spec = new SpecBroker(nats.endpoint);
  const brokers = await Promise.all(Array.from({ length: 5 }, () => spec.open()));
  for (const name of ['a', 'b', 'c']) {
    const leases = await Promise.all(brokers.map((broker, at) => broker.acquireLease(name, `owner ${at}`, 60_000)));
    expect(leases.filter((lease) => lease !== null)).toHaveLength(1);
  }
});

natsTest('BRK-5: leases that were deleted are a fault, not free', async (nats) => {
  spec = new SpecBroker(nats.endpoint, { timeoutMs: 500, patienceMs: 500 });
  const broker = await spec.open();
  const lease = await broker.acquireLease('intake', 'a', 60_000);
  await using operator = await operatorOf(nats.endpoint);
  await operator.streams.delete(`${spec.prefix}_LEASES`);
  await expect(lease!.renew()).rejects.toMatchObject({ code: 'unavailable' });
  await expect(broker.acquireLease('intake', 'b', 60_000)).rejects.toMatchObject({ code: 'misconfigured' });
});
