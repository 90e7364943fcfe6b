import { Fault } from '@tidemark/libs-kernel';
import { ManualTime, SeededRandom } from '@tidemark/libs-kernel/testing';
import { Chores } from './chores.ts';

function someChores() {
  const time = new ManualTime();
  const told: object[] = [];
  const log = { info() {}, warn: (fields: object) => void told.push(fields) };
  return { time, told, chores: new Chores({ clock: time, random: new SeededRandom(1), log }) };
}

describe('the chores of a worker', () => {
  it('FLD-7: are done part by part, one part at a time, in turn', async () => {
    const { chores } = someChores();
    const done: string[] = [];
    const work = (name: string, parts: number) => async () => (done.push(name), --parts > 0 ? 0 : null);
    chores.add('a', work('a', 3));
    chores.add('b', work('b', 2));
    for (let i = 0; i < 10; i++) await chores.tick();
    expect(done).toEqual(['a', 'b', 'a', 'b', 'a']);
    expect(chores.size).toBe(0);
  });

  it('come again when their time has come, and not before', async () => {
    const { chores, time } = someChores();
    let parts = 0;
    chores.add('sweep', async () => (parts++, 100));
    for (let ms = 0; ms < 250; ms += 10) {
      await chores.tick();
      time.advance(10);
    }
    expect(parts).toBe(3);
    expect(chores.nextDueMs(time.monotonic())).toBe(50);
  });

  it('of one name are one', async () => {
    const { chores } = someChores();
    chores.add('a', async () => null);
    chores.add('a', () => Promise.reject(new Error('the second')));
    await chores.tick();
    expect(chores.size).toBe(0);
  });

  it('that fail are told of and tried again, later each time, and hold up no other', async () => {
    const { chores, time, told } = someChores();
    let isDown = true;
    let others = 0;
    chores.add('a', async () => {
      if (isDown) throw new Fault('unavailable', 'down');
      return null;
    });
    chores.add('b', async () => (others++, 0));
    for (let i = 0; i < 100; i++) await chores.tick();
    expect(told).toEqual([{ chore: 'a', reason: 'down' }]);
    expect(others).toBeGreaterThan(50);
    isDown = false;
    time.advance(60_000);
    for (let i = 0; i < 3; i++) await chores.tick();
    expect(chores.size).toBe(1);
  });

  it('OPS-3: begin no part after the end was asked for', async () => {
    const { chores } = someChores();
    let parts = 0;
    chores.add('a', async () => (parts++, 0));
    await chores.tick(AbortSignal.abort());
    expect(parts).toBe(0);
  });
});
