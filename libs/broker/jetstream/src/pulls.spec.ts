import { ManualTime } from '@tidemark/libs-kernel/testing';
import type { Msg } from 'nats';
import type { Link } from './link.ts';
import { type Pulled, Pulls } from './pulls.ts';

type Hear = (error: Error | null, message: Msg) => void;

let time: ManualTime;
let hear: Hear;
let lose: (reason: Error) => void;
let stop: AbortController;
let pulls: Pulls;

beforeEach(() => {
  time = new ManualTime();
  stop = new AbortController();
  const lost = new Promise<never>((_, reject) => (lose = reject));
  const connection = {
    subscribe(_subject: string, { callback }: { callback: Hear }) {
      hear = callback;
      return { unsubscribe() {} };
    },
    publish() {},
  };
  const unlessLost = <T>(promise: Promise<T>) => Promise.race([promise, lost]);
  const link = { connection, clock: time, sleeper: time, isClosed: false, unlessLost };
  pulls = new Pulls(link as unknown as Link, 'ask', '_INBOX');
});

const pull = (batch: number, expiresMs: number): Promise<Pulled> =>
  pulls.pull({ batch, expiresMs, bytesMax: 1000 }, stop.signal);
const message = (status?: number): Msg => (status === undefined ? {} : { headers: { code: status } }) as Msg;
const turns = () => new Promise((resolve) => setImmediate(resolve));
async function later(ms: number): Promise<void> {
  time.advance(ms);
  await turns();
}

// kills: pulls.ts: this.#heardAtMs + GRACE_MS - clock.monotonic() => 0
test('OPS-4: a pull is not lost while messages come, however long all of them take', async () => {
  const pulled = pull(100, 0);
  for (let n = 0; n < 10; n++) {
    await later(1500);
    hear(null, message());
  }
  await later(1999);
  hear(null, message(404));
  const { messages, end } = await pulled;
  expect([messages.length, end]).toEqual([10, 'answered']);
});

test('OPS-4: a pull is lost two seconds after the last that was heard, and not before its time is over', async () => {
  const silent = pull(100, 0);
  await later(1500);
  hear(null, message());
  await later(500);
  await later(1500);
  expect(await silent).toMatchObject({ messages: [{}], end: 'lost' });
  const waiting = pull(2, 5000);
  await later(10);
  hear(null, message());
  await later(6989);
  expect(time.sleepers).toBe(1);
  await later(1);
  expect((await waiting).end).toBe('lost');
  expect(time.sleepers).toBe(0);
});

// kills: pulls.ts: if (signal.aborted) stop(); => void 0;
test('OPS-3: a pull ends at once when its caller stops, also when it had stopped before, or when the connection is lost', async () => {
  const stopped = pull(100, 5000);
  hear(null, message());
  stop.abort();
  expect(await stopped).toMatchObject({ messages: [{}], end: 'stopped' });
  expect((await pull(1, 5000)).end).toBe('stopped');
  stop = new AbortController();
  const cut = pull(1, 5000);
  lose(new Error('lost'));
  expect((await cut).end).toBe('lost');
  expect(time.sleepers).toBe(0);
});
