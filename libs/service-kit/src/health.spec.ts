import { ManualTime } from '@tidemark/libs-kernel/testing';
import { readiness, readyAnswer } from './health.ts';

// kills: health.ts: results.every(([, result]) => result === 'ok') => true
test('OPS-1: readiness is the sum of its checks, and says per check why not', async () => {
  const checks = { store: async () => {}, broker: () => Promise.reject(new Error('refused')) };
  expect(await readiness(checks, new ManualTime())).toEqual({
    ready: false,
    checks: { store: 'ok', broker: 'refused' },
  });
  expect((await readiness({ store: async () => {} }, new ManualTime())).ready).toBe(true);
});

// kills: health.ts: sleeper.sleep(boundMs, bound.signal) => sleeper.sleep(2 * boundMs, bound.signal)
test('OPS-1: a backend that does not answer cannot hang the probe', async () => {
  const time = new ManualTime();
  const result = readiness({ store: () => new Promise(() => {}) }, time, 2000);
  time.advance(2000);
  expect(await result).toEqual({ ready: false, checks: { store: 'no answer within 2000 ms' } });
});

// kills: health.ts: if (draining) => if (false)
test('OPS-3, OPS-6: a service that drains is not ready and asks no store; not ready is never taken for work half done', async () => {
  const headers = { 'tidemark-outcome': 'not-done' };
  const store = jest.fn(async () => {});
  const draining = await readyAnswer({ store }, new ManualTime(), true);
  expect(draining).toEqual({ status: 503, body: '{"status":"draining"}', headers });
  expect(store).not.toHaveBeenCalled();
  expect(await readyAnswer({ store }, new ManualTime(), false)).toEqual({
    status: 200,
    body: '{"status":"ok","checks":{"store":"ok"}}',
  });
  store.mockRejectedValueOnce(new Error('away'));
  const body = '{"status":"not ready","checks":{"store":"away"}}';
  expect(await readyAnswer({ store }, new ManualTime(), false)).toEqual({ status: 503, body, headers });
});
