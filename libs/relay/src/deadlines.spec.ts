import { ManualTime } from '@tidemark/libs-kernel/testing';
import { Deadlines } from './deadlines.ts';

const settled = async () => {
  for (let i = 0; i < 10; i++) await Promise.resolve();
};

// kills: deadlines.ts: leftMs > 0 => leftMs > 60
test('RLY-10: each item ends once, at its own time, unless it was removed', async () => {
  const time = new ManualTime();
  const ended: string[] = [];
  const deadlines = new Deadlines<string>(time, time, (item) => ended.push(item));
  deadlines.add('a', 100);
  time.advance(40);
  deadlines.add('b', 100);
  deadlines.add('c', 100);
  deadlines.remove('b');
  time.advance(59);
  await settled();
  expect(ended).toEqual([]);
  time.advance(1);
  await settled();
  expect(ended).toEqual(['a']);
  time.advance(1000);
  await settled();
  expect(ended).toEqual(['a', 'c']);
});

test('RLY-10: when none is left the timer rests, and begins again with the next item', async () => {
  const time = new ManualTime();
  const ended: string[] = [];
  const deadlines = new Deadlines<string>(time, time, (item) => ended.push(item));
  deadlines.add('a', 100);
  deadlines.remove('a');
  time.advance(100);
  await settled();
  deadlines.add('b', 100);
  time.advance(99);
  await settled();
  expect(ended).toEqual([]);
  time.advance(1);
  await settled();
  expect(ended).toEqual(['b']);
});
