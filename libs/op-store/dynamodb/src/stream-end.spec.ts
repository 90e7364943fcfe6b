import { StreamEnd } from './stream-end.ts';
import { aWaitingOp } from './spec-rounds.ts';

const two = [aWaitingOp('a'), aWaitingOp('b')];

describe('what a process knows of the end of a stream', () => {
  it('RLY-7b: the newest op is looked for once, and again only below what was seen', () => {
    const end = new StreamEnd();
    expect([end.counter, end.needsTop(0n), end.needsTop(100n)]).toEqual([null, true, true]);
    expect(end.plan(4n, 9n)).toEqual({ counter: 4n, base: 9n, flip: null });
    expect([8n, 9n, 10n].map((counter) => end.needsTop(counter))).toEqual([true, false, false]);
    expect(end.plan(12n, null)).toEqual({ counter: 12n, base: 12n, flip: null });
    expect([11n, 12n].map((counter) => end.needsTop(counter))).toEqual([true, false]);
  });

  it('RLY-7: what a round stored is where the next one begins', () => {
    const end = new StreamEnd();
    end.stored({ base: end.plan(4n, 4n).base, ops: two });
    expect([end.counter, end.needsTop(6n), end.needsTop(5n)]).toEqual([6n, false, true]);
  });

  it('RLY-7b: what was only planned on is kept, whatever becomes of the round (C13)', () => {
    for (const become of [(end: StreamEnd) => end.forget(), (end: StreamEnd) => end.moved(0n)]) {
      const end = new StreamEnd();
      end.plan(0n, 2n);
      become(end);
      expect(end.needsTop(0n)).toBe(true);
    }
  });

  it('RLY-7: an occupied seq keeps the counter, and has the newest op looked for', () => {
    const end = new StreamEnd();
    end.plan(4n, 4n);
    end.taken(4n);
    expect([end.counter, end.needsTop(4n)]).toEqual([4n, true]);
    expect(end.plan(4n, 44n)).toEqual({ counter: 4n, base: 44n, flip: null });
  });

  it('RLY-7: a gap turns the check around, and back, for its seq alone', () => {
    const end = new StreamEnd();
    const flip = () => end.plan(9n, 9n).flip;
    end.gap(9n);
    expect(flip()).toBe(9n);
    end.gap(9n);
    expect(flip()).toBeNull();
    end.gap(9n);
    end.gap(12n);
    expect(flip()).toBe(12n);
  });

  it.each([
    ['stored', (end: StreamEnd) => end.stored({ base: 9n, ops: two })],
    ['lost', (end: StreamEnd) => end.moved(11n)],
    ['taken', (end: StreamEnd) => end.taken(9n)],
    ['a conflict, a throttle, or without an answer', (end: StreamEnd) => end.forget()],
  ])('RLY-7: the proof of a gap ends with a round that is %s', (_, become) => {
    const end = new StreamEnd();
    end.plan(9n, 9n);
    end.gap(9n);
    become(end);
    expect(end.plan(9n, 9n).flip).toBeNull();
  });

  it('RLY-7: a conflict, a throttle or a missing answer has the counter read again', () => {
    const end = new StreamEnd();
    end.plan(9n, 9n);
    end.forget();
    expect(end.counter).toBeNull();
  });
});
