import { FRONT, frontFetch } from './front.ts';

const urls = ['http://127.0.0.1:1', 'http://127.0.0.1:2'];
const failure = (code: string) => new TypeError('fetch failed', { cause: Object.assign(new Error(code), { code }) });

/** Replicas that are down fail with `code`. */
function front(down: readonly string[] = [], code = 'ECONNREFUSED') {
  const sent: string[] = [];
  const send: typeof fetch = (input) => {
    sent.push(String(input));
    const isDown = down.some((url) => String(input).startsWith(url));
    return isDown ? Promise.reject(failure(code)) : Promise.resolve(new Response('taken'));
  };
  return { sent, fetch: frontFetch(() => urls, send) };
}

test('requests take turns among the replicas', async () => {
  const { sent, fetch } = front();
  for (let n = 0; n < 3; n++) await fetch(`${FRONT}/livez`);
  expect(sent).toEqual([`${urls[0]}/livez`, `${urls[1]}/livez`, `${urls[0]}/livez`]);
});

test('a replica that takes no connection is passed over', async () => {
  const { sent, fetch } = front([urls[0] as string]);
  expect(await (await fetch(`${FRONT}/livez`)).text()).toBe('taken');
  expect(sent).toHaveLength(2);
});

// kills: front.ts: tried >= urls.length || !isRefused(error) => tried >= urls.length
test('a request that a replica took and did not answer is not sent to another one', async () => {
  const { sent, fetch } = front([urls[0] as string], 'ECONNRESET');
  await expect(fetch(`${FRONT}/livez`)).rejects.toThrow('fetch failed');
  expect(sent).toHaveLength(1);
});

test('with no replica left the request fails', async () => {
  const { sent, fetch } = front(urls);
  await expect(fetch(`${FRONT}/livez`)).rejects.toThrow('fetch failed');
  expect(sent).toHaveLength(2);
});
