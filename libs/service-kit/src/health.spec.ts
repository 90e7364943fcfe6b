import { Fault } from '@tidemark/libs-kernel';
import { ManualTime } from '@tidemark/libs-kernel/testing';
import { readiness, readyAnswer } from './health.ts';

let warned: object[];
const log = { warn: (fields: object) => void warned.push(fields) };
beforeEach(() => void (warned = []));

// kills: health.ts: results.every(([, result]) => result === 'ok') => true
// kills: health.ts: return toldText(fault) => return fault.message
test('OPS-1, SEC-1: readiness is the sum of its checks, says per check why not, and names no place but in the log', async () => {
  const checks = {
    store: async () => {},
    broker: () => Promise.reject(new Fault('unavailable', '/data/queue is held')),
  };
  expect(await readiness(checks, new ManualTime(), log)).toEqual({
    ready: false,
    checks: { store: 'ok', broker: 'not available now: try again later' },
  });
  expect(warned).toEqual([{ check: 'broker', reason: '/data/queue is held' }]);
  expect((await readiness({ store: async () => {} }, new ManualTime(), log)).ready).toBe(true);
});

// kills: health.ts: sleeper.sleep(boundMs, bound.signal) => sleeper.sleep(2 * boundMs, bound.signal)
test('OPS-1: a backend that does not answer cannot hang the probe', async () => {
  const time = new ManualTime();
  const result = readiness({ store: () => new Promise(() => {}) }, time, log, 2000);
  time.advance(2000);
  expect(await result).toEqual({ ready: false, checks: { store: 'no answer within 2000 ms' } });
});

// kills: health.ts: if (draining) => if (false)
test('OPS-3, OPS-6: a service that drains is not ready and asks no store; not ready is never taken for work half done', async () => {
  const headers = { 'tidemark-outcome': 'not-done' };
  const store = jest.fn(async () => {});
  const draining = await readyAnswer({ store }, new ManualTime(), true, log);
  expect(draining).toEqual({ status: 503, body: '{"status":"draining"}', headers });
  expect(store).not.toHaveBeenCalled();
  expect(await readyAnswer({ store }, new ManualTime(), false, log)).toEqual({
    status: 200,
    body: '{"status":"ok","checks":{"store":"ok"}}',
  });
  store.mockRejectedValueOnce(new Fault('disk_full', 'away'));
  const body = '{"status":"not ready","checks":{"store":"no space is left to write: try again later"}}';
  expect(await readyAnswer({ store }, new ManualTime(), false, log)).toEqual({ status: 503, body, headers });
});
