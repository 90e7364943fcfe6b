import Sqlite from 'better-sqlite3';
import { SeededRandom } from '@tidemark/libs-kernel/testing';
import { KeyHints, hashOf } from './key-hints.ts';
import { SpecQueue, TENANT, tell } from './spec-queue.ts';

describe('KeyLog', () => {
  let queue: SpecQueue;
  beforeEach(async () => (queue = await SpecQueue.make()));
  afterEach(() => queue.end());

  test('I26: keys whose window ended are swept with the publishes that follow, and the log stays bounded', async () => {
    const { broker } = await queue.start({ duplicateWindowMs: 1000 });
    const sizes: number[] = [];
    for (let round = 0; round < 12; round++) {
      await Promise.all(Array.from({ length: 200 }, (_, n) => tell(broker, 'a', `${round}/${n}`)));
      sizes.push(keysStored());
      await queue.pass(400);
    }
    expect(Math.max(...sizes)).toBeLessThanOrEqual(200 * 4);
    expect(sizes.at(-1)).toBeGreaterThanOrEqual(200 * 3);
  });

  test('BRK-2: a process that starts while others publish knows every key of the window', async () => {
    const { broker } = await queue.start();
    await Promise.all(Array.from({ length: 3000 }, (_, n) => tell(broker, 'a', `${n}`)));
    const { broker: other } = await queue.start();
    const repeats = await Promise.all(Array.from({ length: 3000 }, (_, n) => tell(other, 'a', `${n}`)));
    expect(repeats.filter(({ kind }) => kind !== 'duplicate')).toEqual([]);
    expect((await other.stats(TENANT)).messages).toBe(3000n);
  });

  test('BRK-2: keys of a transaction keep their seqs, with messages without keys and of other tenants between them', async () => {
    const { broker } = await queue.start();
    await broker.openQueue('other', 1_000_000n);
    const publish = (n: number) =>
      broker.publish(
        { tenant: n % 5 === 0 ? 'other' : TENANT, table: 'clicks' },
        Buffer.from(`${n}`),
        n % 3 === 0 ? {} : { idempotencyKey: `key ${n}` },
      );
    const numbers = Array.from({ length: 200 }, (_, n) => n);
    const stored = await Promise.all(numbers.map(publish));
    const keyed = numbers.filter((n) => n % 3 !== 0);
    const repeats = await Promise.all(keyed.map(publish));
    expect(repeats).toEqual(keyed.map((n) => ({ ...stored[n], kind: 'duplicate' })));
  });

  test('BRK-2: a key that only differs late, or has the length of another with NUL, is another key', async () => {
    const { broker } = await queue.start();
    const long = 'k'.repeat(2000);
    for (const key of [`${long}a`, `${long}b`, 'a', 'a\0', 'a\0b', '\u00e9', 'e\u0301', '1/2', '1'])
      expect((await tell(broker, 'x', key)).kind).toBe('stored');
  });

  function keysStored(): number {
    const db = new Sqlite(queue.file, { readonly: true });
    const count = db.prepare<[], number>('SELECT coalesce(sum(json_array_length(keys)), 0) FROM keys').pluck().get();
    db.close();
    return count!;
  }
});

describe('KeyHints', () => {
  test('BRK-2: hints name every id of a window, whatever hashes are equal', () => {
    const hints = new KeyHints(1000);
    const random = new SeededRandom(5);
    const hashes = Array.from({ length: 20_000 }, () => Math.floor(random.fraction() * 5000));
    hashes.forEach((hash, at) => hints.add(hash, at + 1, at / 20));
    const missing = hashes.filter(
      (hash, at) => hints.find(hash, (id) => (id === at + 1 ? id : undefined)) === undefined,
    );
    expect(missing).toEqual([]);
  });

  test('I26: hints older than two windows are gone', () => {
    const hints = new KeyHints(1000);
    hints.add(7, 1, 0);
    hints.add(8, 2, 1000);
    expect(hints.find(7, (id) => id)).toBe(1);
    hints.add(9, 3, 2000);
    expect(hints.find(7, (id) => id)).toBeUndefined();
    expect(hints.find(8, (id) => id)).toBe(2);
  });

  test('BRK-2: hashes of keys that are alike spread', () => {
    const hashes = new Set(Array.from({ length: 10_000 }, (_, n) => hashOf(1, `order-${n}`)));
    expect(hashes.size).toBeGreaterThan(9_990);
    const low = new Set([...hashes].map((hash) => hash & 1023));
    expect(low.size).toBe(1024);
    expect(hashOf(1, 'a')).not.toBe(hashOf(2, 'a'));
  });
});
