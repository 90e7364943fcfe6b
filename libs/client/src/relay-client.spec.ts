import { encodePage } from '@tidemark/libs-wire';
import { connectRelay } from './relay-client.ts';
import { type Page } from './pull.ts';
import { type Script, ScriptedService, answer, broken, opsOf } from './spec-service.ts';
import type { ServiceOptions } from './service.ts';

const I64_MAX = 2n ** 63n - 1n;

function relayOf(script: Script, options: Partial<ServiceOptions> = {}) {
  const service = new ScriptedService(script, options);
  return { service, relay: connectRelay(service.options) };
}

const cursorIn = (url: string) => BigInt(new URL(url).searchParams.get('since') ?? '0');
const page = (next: bigint, ...ids: string[]) => answer(200, `${encodePage(opsOf(...ids), next)}`);

async function all(pages: AsyncIterable<Page>): Promise<Page[]> {
  const found: Page[] = [];
  for await (const one of pages) found.push(one);
  return found;
}

describe('pull', () => {
  test('RLY-2: ops and cursors come without loss', async () => {
    const { relay, service } = relayOf(() => page(I64_MAX, 'a'));
    expect(await relay.pull('a/b', I64_MAX - 1n, { limit: 2 })).toEqual({ ops: opsOf('a'), next: I64_MAX });
    expect(service.seen[0]?.url).toBe('http://service/streams/a%2Fb/ops?since=9223372036854775806&limit=2');
  });

  test('pages follow each other until the cursor stands still; a short or empty page is no end', async () => {
    const log: Record<string, Response> = { 0: page(2n, 'a', 'b'), 2: page(5n), 5: page(6n, 'c'), 6: page(6n) };
    const { relay } = relayOf(({ url }) => log[String(cursorIn(url))] ?? null);
    const pages = await all(relay.pages('s', 0n));
    expect(pages.map(({ ops, next }) => [ops.map(({ opId }) => opId).join(''), next])).toEqual([
      ['ab', 2n],
      ['', 5n],
      ['c', 6n],
    ]);
  });

  test('a cursor that goes back is ignored', async () => {
    const { relay } = relayOf(() => page(3n));
    expect(await relay.pull('s', 7n)).toEqual({ ops: [], next: 7n });
    expect(await all(relay.pages('s', 7n))).toEqual([]);
  });

  test('R37: the next page is fetched when the one before it has been applied, not earlier', async () => {
    const { relay, service } = relayOf(({ url }) => (cursorIn(url) < 2n ? page(cursorIn(url) + 1n, 'x') : page(2n)));
    const pages = relay.pages('s', 0n);
    await pages.next();
    for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
    expect(service.seen).toHaveLength(1);
    await pages.next();
    expect(service.seen).toHaveLength(2);
  });

  test('R37: a reader that dies between fetch and apply is given the page again', async () => {
    const log = ['a', 'b', 'c'];
    const { relay } = relayOf(({ url }) => {
      const at = Number(cursorIn(url));
      return at < log.length ? page(BigInt(at + 1), log[at] as string) : page(BigInt(at));
    });
    const applied: string[] = [];
    let cursor = 0n;
    const read = async (diesAt: string | null) => {
      for await (const { ops, next } of relay.pages('s', cursor)) {
        if (ops[0]?.opId === diesAt) return;
        applied.push(...ops.map(({ opId }) => opId));
        cursor = next;
      }
    };
    await read('b');
    await read(null);
    expect(applied).toEqual(log);
  });

  test('R35: a pull that fails is repeated from its cursor with waits between, and gives up with what it was told', async () => {
    const { relay, service } = relayOf(() => answer(503, '{"error":"busy"}', { 'retry-after': '2' }));
    await expect(service.ended(relay.pull('s', 4n))).rejects.toMatchObject({
      name: 'ServiceError',
      status: 503,
      message: 'status 503: busy',
      retryAfterMs: 2000,
    });
    expect(new Set(service.seen.map(({ url }) => url)).size).toBe(1);
    expect(service.waits).toEqual([2000, 2000, 2000, 2000, 2000, 3200, 5000]);
  });

  test('an aborted pull rejects with the reason as its cause', async () => {
    const { relay } = relayOf(() => null);
    const reason = new Error('enough');
    await expect(relay.pull('s', 0n, { signal: AbortSignal.abort(reason) })).rejects.toMatchObject({ cause: reason });
  });
});

describe('tail by long poll', () => {
  test('RLY-14: pages come as they are written, from the cursor on, until the signal aborts', async () => {
    const ends = new AbortController();
    const { relay, service } = relayOf((_, nth) => {
      if (nth === 1) return page(2n, 'a', 'b');
      if (nth === 2) return broken();
      if (nth === 3) return page(2n);
      return nth === 4 ? page(3n, 'c') : null;
    });
    const tail = relay.tail('s', 0n, { signal: ends.signal, waitSecs: 10, limit: 9 });
    expect((await service.ended(tail.next())).value?.next).toBe(2n);
    expect((await service.ended(tail.next())).value?.ops).toEqual(opsOf('c'));
    expect(service.seen[3]?.url).toBe('http://service/streams/s/ops?since=2&limit=9&wait=10');
    const last = tail.next();
    ends.abort();
    expect(await service.ended(last)).toEqual({ done: true, value: undefined });
  });

  test('a long poll may take its wait beside the time for a request', async () => {
    const { relay, service } = relayOf((_, nth) => (nth === 1 ? null : page(1n, 'a')));
    const next = relay.tail('s', 0n, { waitSecs: 55 }).next();
    await service.ended(next);
    expect(service.time.monotonic()).toBeGreaterThanOrEqual(85_000);
  });

  // kills: tail-poll.ts: const leftMs = POLL_MS => const leftMs = Math.min(POLL_MS, waitSecs * 1000)
  test.each([undefined, 0])(
    'R35: a relay that does not wait, asked for %s, is asked about once a second',
    async (waitSecs) => {
      const { relay, service } = relayOf((_, nth) => (nth <= 10 ? page(0n) : page(1n, 'a')));
      await service.ended(relay.tail('s', 0n, waitSecs === undefined ? {} : { waitSecs }).next());
      expect(service.time.monotonic()).toBeGreaterThanOrEqual(10_000);
    },
  );

  test('an outage longer than the rules of retry ends the tail with the error', async () => {
    const { relay, service } = relayOf(() => broken('ECONNREFUSED'), { retry: { attemptsMax: 3 } });
    await expect(service.ended(relay.tail('s', 0n).next())).rejects.toMatchObject({ status: null });
    expect(service.seen).toHaveLength(3);
  });
});

describe('the small routes', () => {
  test('RLY-15: a prefix is registered, reassigned, or not kept here', async () => {
    const given = [
      answer(200, '{"outcome":"registered"}'),
      answer(200, '{"outcome":"reassigned","new_prefix":"d7rm"}'),
    ];
    const { relay, service } = relayOf((_, nth) => given[nth - 1] ?? answer(404));
    const register = () => relay.register('s', 'aaaa', 'uuid-B');
    expect(await register()).toEqual({ kind: 'registered' });
    expect(await register()).toEqual({ kind: 'reassigned', newPrefix: 'd7rm' });
    expect(await register()).toEqual({ kind: 'no_registry' });
    expect(service.seen[0]).toMatchObject({
      url: 'http://service/streams/s/register',
      body: '{"prefix":"aaaa","replica_uuid":"uuid-B"}',
    });
  });

  test('RLY-15: a machine says hello, and machines are listed, where the relay keeps presence', async () => {
    const machine = '{"machine_id":"m1","name":"Mac","last_seen":1790000000,"age_secs":42,"interval_secs":300}';
    const { relay } = relayOf(({ method }) =>
      method === 'POST' ? answer(204) : answer(200, `{"machines":[${machine}],"truncated":false}`),
    );
    expect(await relay.announce('s', { machineId: 'm1', name: 'Mac', intervalSecs: 300 })).toBe(true);
    expect(await relay.machines('s')).toEqual({
      machines: [{ machineId: 'm1', name: 'Mac', lastSeenSecs: 1790000000n, ageSecs: 42n, intervalSecs: 300n }],
      truncated: false,
    });
    for (const status of [404, 405]) {
      const without = relayOf(() => answer(status)).relay;
      expect(await without.announce('s', { machineId: 'm1', name: 'Mac', intervalSecs: 300 })).toBe(false);
      expect(await without.machines('s')).toBeNull();
    }
  });

  test('an announcement out of its bounds rejects in the words of the relay', async () => {
    const { relay } = relayOf(() => answer(400, 'name must not be blank.'));
    await expect(relay.announce('s', { machineId: 'm', name: ' ', intervalSecs: 1 })).rejects.toMatchObject({
      message: 'status 400: name must not be blank.',
      outcome: 'not-done',
    });
  });

  test('RLY-19: streams are listed, described and erased', async () => {
    const { relay, service } = relayOf(({ method, url }) => {
      if (url.includes('?')) return answer(200, '{"streams":[{"stream":"b","head":9}],"next":"b"}');
      return answer(200, `{"stream":"a/b","head":9223372036854775807,"${method === 'GET' ? 'burned' : 'erased'}":2}`);
    });
    expect(await relay.streams({ after: 'a', limit: 1 })).toEqual({ streams: [{ stream: 'b', head: 9n }], next: 'b' });
    expect(await relay.describe('a/b')).toEqual({ stream: 'a/b', head: I64_MAX, burned: 2n });
    expect(await relay.erase('a/b')).toEqual({ stream: 'a/b', head: I64_MAX, erased: 2n });
    expect(service.seen.map(({ method, url }) => `${method} ${url}`)).toEqual([
      'GET http://service/v1/streams?after=a&limit=1',
      'GET http://service/v1/streams/a%2Fb',
      'DELETE http://service/v1/streams/a%2Fb',
    ]);
  });
});

describe('where and as whom', () => {
  const asked = async (options: Partial<ServiceOptions>) => {
    const { relay, service } = relayOf(() => page(0n), options);
    await relay.pull('s', 0n);
    return service.seen[0];
  };

  test('SEC-1: a token is sent as Bearer, credentials of the URL as Basic, and never in the URL', async () => {
    expect((await asked({ token: 't0' }))?.headers).toEqual({ authorization: 'Bearer t0' });
    const basic = await asked({ url: 'https://us%40er:p%C3%A4ss@host' });
    expect(basic?.headers).toEqual({ authorization: `Basic ${Buffer.from('us@er:päss').toString('base64')}` });
    expect(basic?.url).toBe('https://host/streams/s/ops?since=0');
    expect((await asked({ url: 'https://u:p@host', token: 't' }))?.headers).toEqual({ authorization: 'Bearer t' });
    expect((await asked({}))?.headers).toEqual({});
  });

  test('a path of the URL stays in front of the routes', async () => {
    expect((await asked({ url: 'https://host/relay/' }))?.url).toBe('https://host/relay/streams/s/ops?since=0');
  });

  test.each(['', '.', '..', '\ud800'])(
    'a stream that no path can name is refused without a request: %j',
    async (stream) => {
      const { relay, service } = relayOf(() => answer(404));
      const refused = { name: 'ServiceError', status: null, outcome: 'not-done' };
      await expect(relay.push(stream, opsOf('a'))).rejects.toMatchObject(refused);
      await expect(relay.pages(stream, 0n).next()).rejects.toMatchObject(refused);
      await expect(relay.events(stream, 0n).next()).rejects.toMatchObject(refused);
      await expect(relay.register(stream, 'aaaa', 'u')).rejects.toMatchObject(refused);
      expect(service.seen).toEqual([]);
    },
  );
});
