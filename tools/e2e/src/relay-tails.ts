/** What the tail's tests do with relays in processes of their own. */
import { anOp } from '@tidemark/libs-op-store-contract/testing';
import { encodePush } from '@tidemark/libs-wire';
import { EventReader } from './event-reader.ts';
import type { RelayProcess } from './relay-process.ts';

export async function push({ url }: RelayProcess, stream: string, ...ops: Parameters<typeof anOp>[0][]): Promise<void> {
  const body = encodePush(ops.map((op) => anOp(op)));
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(`${url}/streams/${stream}/ops`, { method: 'POST', body, headers });
  if (!answer.ok) throw new Error(`the push is answered ${answer.status}`);
}

export const names = (count: number, from = 1) => Array.from({ length: count }, (_, n) => `op-${from + n}`);

/** What a metric of the relay is; 0 for one that it has not counted yet. `like` is a regular expression. */
export async function metric({ url }: RelayProcess, like: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(new RegExp(`^${like} (\\S+)$`, 'm').exec(text)?.[1] ?? 0);
}

export const wakeups = (relay: RelayProcess, source: string) =>
  metric(relay, `tidemark_tail_wakeups_total\\{.*source="${source}".*\\}`);

/** For relays whose polling comes too late to be what wakes their readers. */
export const LATE_POLLS = { RELAY_TAIL_POLL_MS: '60000', RELAY_TAIL_TOLD_POLL_MS: '600000' };

/** Both kinds of readers on one relay, appends on the other. */
export async function expectWakes(writer: RelayProcess, reading: RelayProcess, source: string): Promise<void> {
  const events = await EventReader.open(reading.url, 'woken');
  for (let n = 0; n < 20; n++) {
    const polled = fetch(`${reading.url}/streams/woken/ops?since=${n}&wait=55`);
    await push(writer, 'woken', { opId: `op-${n + 1}` });
    expect(await (await polled).text()).toContain(`"op-${n + 1}"`);
  }
  await events.until(20);
  events.close();
  expect(events.ids).toEqual(names(20));
  expect([(await wakeups(reading, source)) > 0, await wakeups(reading, 'poll')]).toEqual([true, 0]);
}

/** A reader of events, whose relay is killed again and again while the other relay takes pushes; it resumes each time. */
export async function expectResumes(
  writer: RelayProcess,
  kills: number,
  next: (previous: RelayProcess | undefined) => Promise<RelayProcess>,
): Promise<void> {
  let pushed = 0;
  let over = false;
  const pushing = (async () => {
    for (let size = 1; !over; size = 1 + (size % 7)) {
      await push(writer, 'resumed', ...names(size, pushed + 1).map((opId) => ({ opId, value: 'x'.repeat(200) })));
      pushed += size;
    }
  })();
  const seen: string[] = [];
  let lastEventId: string | undefined;
  let relay: RelayProcess | undefined;
  for (let kill = 0; kill < kills; kill++) {
    relay = await next(relay);
    const events = await EventReader.open(relay.url, 'resumed', lastEventId);
    await events.until(pushed - seen.length + 5 + 7 * kill);
    relay.kill('SIGKILL');
    await events.untilEnded();
    seen.push(...events.ids);
    ({ lastEventId } = events);
  }
  over = true;
  await pushing;
  relay = await next(relay);
  const events = await EventReader.open(relay.url, 'resumed', lastEventId);
  await events.until(pushed - seen.length);
  events.close();
  expect([...seen, ...events.ids]).toEqual(names(pushed));
}
