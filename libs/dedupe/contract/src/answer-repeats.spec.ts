import { answerRepeats } from './answer-repeats.ts';
import type { DedupeKey } from './deduplicator.ts';

const keyOf = (id: string): DedupeKey => ({ tenant: 'acme', table: 'clicks', id });

describe('answerRepeats', () => {
  test('DDP-1: the store is asked for each stored form once, and repeats are duplicates whatever the first got', async () => {
    const asked: string[] = [];
    const claims = await answerRepeats(['a', 'b', 'a', 'b', 'a'].map(keyOf), async (ids) => {
      asked.push(...ids.map(({ stored }) => stored));
      return ids.map(({ key }) => ({ status: 'in_flight', key }));
    });
    expect(asked).toEqual(['acme/clicks/a', 'acme/clicks/b']);
    expect(claims.map(({ status }) => status)).toEqual([
      'in_flight',
      'in_flight',
      'duplicate',
      'duplicate',
      'duplicate',
    ]);
    expect(claims.map(({ key }) => key.id)).toEqual(['a', 'b', 'a', 'b', 'a']);
  });

  test('DDP-1: without keys the store is not asked', async () => {
    await expect(answerRepeats([], () => Promise.reject(new Error('asked')))).resolves.toEqual([]);
  });

  test('DDP-1: a store that answers another number of keys is a defect', async () => {
    await expect(answerRepeats([keyOf('a')], async () => [])).rejects.toThrow('answers every key');
  });

  test('RLY-2: an id that has no UTF-8 form is refused before the store is asked', async () => {
    const reserving = answerRepeats([keyOf('\ud800')], () => Promise.reject(new Error('asked')));
    await expect(reserving).rejects.toMatchObject({ code: 'invalid' });
  });
});
