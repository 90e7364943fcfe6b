import { StoredIds } from './stored-ids.ts';

const absent = (stored: StoredIds, ...ids: string[]) => ids.map((id) => stored.isAbsent(id));

describe('StoredIds', () => {
  test('DDP-2: is certain of nothing before a pass has seen everything, except in a folder that is new', () => {
    const old = new StoredIds({ isEmpty: false });
    old.add('a');
    expect(absent(old, 'a', 'b')).toEqual([false, false]);
    const fresh = new StoredIds({ isEmpty: true });
    fresh.add('a');
    expect(absent(fresh, 'a', 'b')).toEqual([false, true]);
  });

  // kills: stored-ids.ts: this.#known = this.#next => this.#known ??= this.#next
  test('DDP-2: after a pass knows what the pass found and what was written meanwhile, and no more', () => {
    const stored = new StoredIds({ isEmpty: false });
    stored.add('gone');
    stored.begin(10);
    stored.found('found');
    stored.add('written');
    expect(absent(stored, 'found', 'written', 'gone')).toEqual([false, false, false]);
    stored.end({ isComplete: true });
    expect(absent(stored, 'found', 'written', 'gone')).toEqual([false, false, true]);
    stored.begin(10);
    stored.found('written');
    stored.end({ isComplete: true });
    expect(absent(stored, 'found', 'written', 'gone')).toEqual([true, false, true]);
  });

  // kills: stored-ids.ts: if (isComplete) this.#known => this.#known
  test('DDP-2: a pass that did not see everything changes nothing', () => {
    const stored = new StoredIds({ isEmpty: true });
    stored.add('a');
    stored.begin(10);
    stored.add('b');
    stored.end({ isComplete: false });
    expect(absent(stored, 'a', 'b', 'c')).toEqual([false, false, true]);
  });
});
