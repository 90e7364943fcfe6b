import { GetItemCommand } from '@aws-sdk/client-dynamodb';
import { ManualTime } from '@tidemark/libs-kernel/testing';
import { ATTEMPT_MS_MAX, boundedClient, OPERATION_MS_MAX } from './bounded-client.ts';
import type { DynamoClient, SendOptions } from './client.ts';

const GET = new GetItemCommand({ TableName: 'ops', Key: {} });

/** A client that answers when it is told to, or is given up. */
function slowClient() {
  let answer = (): void => {};
  const client = {
    send: (_: unknown, { abortSignal }: SendOptions = {}) =>
      new Promise((resolve, reject) => {
        answer = () => resolve('answered');
        const abort = (): void => reject(Object.assign(new Error('given up'), { name: 'AbortError' }));
        abortSignal?.addEventListener('abort', abort);
      }),
  };
  return { client: client as unknown as DynamoClient, answer: () => answer() };
}

describe('a call', () => {
  it('D1: has 15 s with all its repeats, and each of them 5 s', () => {
    expect([ATTEMPT_MS_MAX, OPERATION_MS_MAX]).toEqual([5000, 15_000]);
  });

  // kills: bounded-client.ts: if (!ended.signal.aborted) late.abort(); => if (false) late.abort();
  it('D1: is given up after 15 s, as one that nobody answered', async () => {
    const time = new ManualTime();
    const slow = slowClient();
    const sent = boundedClient(slow.client, time).send(GET);
    time.advance(14_999);
    expect(time.sleepers).toBe(1);
    time.advance(1);
    await expect(sent).rejects.toMatchObject({ name: 'AbortError' });
  });

  it('RLY-10: is given up when nobody wants it any more', async () => {
    const time = new ManualTime();
    const unwanted = new AbortController();
    const sent = boundedClient(slowClient().client, time).send(GET, { abortSignal: unwanted.signal });
    unwanted.abort();
    await expect(sent).rejects.toMatchObject({ name: 'AbortError' });
  });

  it('OPS-4: leaves no timer behind', async () => {
    const time = new ManualTime();
    const slow = slowClient();
    const sent = boundedClient(slow.client, time).send(GET);
    slow.answer();
    expect(await sent).toBe('answered');
    expect(time.sleepers).toBe(0);
  });
});
