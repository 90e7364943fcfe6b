import { Backlog } from './backlog.ts';

function batch(position: string, ...streams: string[]) {
  return { position, changes: streams.map((stream) => ({ stream, head: 1n })) };
}

function serve(backlog: Backlog, stream: string): void {
  for (const task of [...backlog.tasks()]) if (task.stream === stream) backlog.served(task);
}

describe('the backlog of a fold worker', () => {
  it('FLD-9: gives a position for checkpoint only when every stream heard up to it is served', () => {
    const backlog = new Backlog(10);
    backlog.hear(batch('p1', 'a', 'b'), 0);
    backlog.hear(batch('p2', 'c'), 0);
    expect(backlog.servedPosition()).toBeNull();
    serve(backlog, 'a');
    serve(backlog, 'c');
    expect(backlog.servedPosition()).toBeNull();
    serve(backlog, 'b');
    expect(backlog.servedPosition()).toBe('p2');
  });

  it('R10: a stream that stays open holds back later positions, also when it is named again', () => {
    const backlog = new Backlog(10);
    backlog.hear(batch('p1', 'a'), 0);
    serve(backlog, 'a');
    backlog.hear(batch('p2', 'b'), 0);
    backlog.hear(batch('p3', 'b', 'c'), 0);
    serve(backlog, 'c');
    expect(backlog.servedPosition()).toBe('p1');
    serve(backlog, 'b');
    expect(backlog.servedPosition()).toBe('p3');
  });

  it('keeps the highest head of a stream that is named twice', () => {
    const backlog = new Backlog(10);
    for (const head of [5n, 9n, 7n]) backlog.hear({ position: 'p', changes: [{ stream: 'a', head }] }, 0);
    expect([...backlog.tasks()].map(({ head }) => head)).toEqual([9n]);
  });

  it('an empty batch moves the position on', () => {
    const backlog = new Backlog(10);
    backlog.hear(batch('p1'), 0);
    expect(backlog.servedPosition()).toBe('p1');
  });

  it('hands out what is due, the longest waiting first, and puts a repeated task last', () => {
    const backlog = new Backlog(10);
    backlog.hear(batch('p1', 'a', 'b', 'c'), 0);
    const [a, b] = backlog.due(0, 10);
    backlog.again(a!, 0);
    backlog.later(b!, 50, { kind: 'fault', message: 'no' });
    expect(backlog.due(0, 10).map(({ stream }) => stream)).toEqual(['c', 'a']);
    expect(backlog.due(0, 1)).toHaveLength(1);
    expect(backlog.due(50, 10).map(({ stream }) => stream)).toEqual(['c', 'a', 'b']);
    expect(backlog.nextDueMs(0)).toBe(0);
    serve(backlog, 'a');
    serve(backlog, 'c');
    expect(backlog.nextDueMs(20)).toBe(30);
  });

  it('OPS-4: keeps few positions while one stream stays open for long, and the right one', () => {
    const backlog = new Backlog(10);
    backlog.hear(batch('before', 'x'), 0);
    serve(backlog, 'x');
    backlog.hear(batch('stuck', 'a'), 0);
    for (let i = 0; i < 1000; i++) {
      backlog.hear(batch(`p${i}`, `s${i}`), 0);
      serve(backlog, `s${i}`);
    }
    expect(backlog.positions).toBeLessThanOrEqual(3);
    expect(backlog.servedPosition()).toBe('before');
    serve(backlog, 'a');
    expect(backlog.servedPosition()).toBe('p999');
  });

  it('OPS-4: says how many streams it can still take', () => {
    const backlog = new Backlog(2);
    backlog.hear(batch('p1', 'a'), 0);
    expect(backlog.room).toBe(1);
    backlog.hear(batch('p2', 'b', 'c'), 0);
    expect(backlog.room).toBe(0);
  });

  it('FLD-9: work that no batch named holds back no position, until one names it', () => {
    const backlog = new Backlog(10);
    backlog.ring('a', 5n, 0);
    backlog.hear(batch('p1', 'b'), 0);
    serve(backlog, 'b');
    expect(backlog.servedPosition()).toBe('p1');
    backlog.hear(batch('p2', 'a'), 0);
    expect(backlog.servedPosition()).toBe('p1');
    serve(backlog, 'a');
    expect(backlog.servedPosition()).toBe('p2');
  });

  it('FLD-2: a stream that waits for a hole has a turn at once when more comes above it, and one that failed has not', () => {
    for (const [kind, due] of [
      ['held', ['a']],
      ['fault', []],
      ['others', []],
    ] as const) {
      const backlog = new Backlog(10);
      backlog.ring('a', 5n, 0);
      const [task] = backlog.due(0, 1);
      backlog.later(task!, 100, { kind, message: '' });
      backlog.ring('a', 5n, 1);
      expect(backlog.due(1, 1)).toEqual([]);
      backlog.ring('a', 6n, 1);
      expect(backlog.due(1, 1).map(({ stream }) => stream)).toEqual(due);
      backlog.waits(task!);
      expect([backlog.due(99, 1).length, backlog.due(100, 1).length, task!.attempt]).toEqual([0, 1, 1]);
    }
  });
});
