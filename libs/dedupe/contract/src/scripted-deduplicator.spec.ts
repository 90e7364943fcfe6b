import { Fault } from '@tidemark/libs-kernel';
import { ManualTime, SeededRandom } from '@tidemark/libs-kernel/testing';
import type { Claim, DedupeKey } from './index.ts';
import { MemoryDedupeStore, MemoryDeduplicator, ScriptedDeduplicator } from './testing.ts';

const LEASE_MS = 30_000;
const [a, b, c]: [DedupeKey, DedupeKey, DedupeKey] = [keyOf('a'), keyOf('b'), keyOf('c')];
const fault = new Fault('unavailable', 'told to fail');

describe('ScriptedDeduplicator', () => {
  test('remembers what passed: counts, pending and committed keys, retention, released keys in order', async () => {
    const script = scripted();
    const [first, second, third] = await script.reserve([a, b, c], LEASE_MS);
    await script.commit([first!], 5_000);
    await script.release([third!, second!]);
    expect([script.reserves, script.commits, script.releases]).toEqual([1, 1, 1]);
    expect([a, b, c].map((key) => [script.committed(key), script.pending(key)])).toEqual([
      [true, false],
      [false, false],
      [false, false],
    ]);
    expect([script.retentionMs(a), script.retentionMs(b)]).toEqual([5_000, undefined]);
    expect(script.released).toEqual([c, b]);
  });

  test('a reserve that is told to fail after some keys gives them back', async () => {
    const script = scripted();
    script.failNext('reserve', fault, { afterKeys: 2 });
    await expect(script.reserve([a, b, c], LEASE_MS)).rejects.toBe(fault);
    expect(statuses(await script.reserve([a, b, c], LEASE_MS))).toEqual(['claimed', 'claimed', 'claimed']);
    expect(script.released).toEqual([]);
  });

  test('a commit that is told to fail after some keys has committed those', async () => {
    const script = scripted();
    const claims = await script.reserve([a, b], LEASE_MS);
    script.failNext('commit', fault, { afterKeys: 1 });
    await expect(script.commit(claims, 0)).rejects.toBe(fault);
    expect([script.committed(a), script.committed(b), script.pending(b)]).toEqual([true, false, true]);
    expect(statuses(await script.reserve([a, b], LEASE_MS))).toEqual(['duplicate', 'in_flight']);
  });

  test('a release that is told to fail has released the keys before, and the next call goes through', async () => {
    const script = scripted();
    const claims = await script.reserve([a, b], LEASE_MS);
    script.failNext('release', fault, { afterKeys: 1 });
    await expect(script.release(claims)).rejects.toBe(fault);
    expect([script.pending(a), script.pending(b)]).toEqual([false, true]);
    await script.release(claims);
    expect(script.released).toEqual([a, a, b]);
  });

  test('a held key is in flight for the callers, uncounted, and is not theirs', async () => {
    const script = scripted();
    await script.hold(a);
    expect(statuses(await script.reserve([a, b], LEASE_MS))).toEqual(['in_flight', 'claimed']);
    expect([script.reserves, script.pending(a), script.pending(b)]).toEqual([1, false, true]);
  });
});

function scripted(): ScriptedDeduplicator {
  const store = new MemoryDedupeStore({ clock: new ManualTime(), random: new SeededRandom(1) });
  return new ScriptedDeduplicator(new MemoryDeduplicator(store));
}

function keyOf(id: string): DedupeKey {
  return { tenant: 'acme', table: 'clicks', id };
}

function statuses(claims: readonly Claim[]): string[] {
  return claims.map((claim) => claim.status);
}
