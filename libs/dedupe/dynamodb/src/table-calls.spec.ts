import { PutItemCommand } from '@aws-sdk/client-dynamodb';
import { ManualTime, SeededRandom } from '@tidemark/libs-kernel/testing';
import type { OwnClient } from './client.ts';
import { RecordedMetrics, conditionFailed, sdkError, throttle } from './spec-table.ts';
import { TableCalls, type TableCallsOptions } from './table-calls.ts';

const PUT = new PutItemCommand({ TableName: 'ids', Item: {} });
const ALMOST_ONE = { bytes: (n: number) => new Uint8Array(n), fraction: () => 0.9999 };

let time: ManualTime;
let metrics: RecordedMetrics;
let waits: number[];
beforeEach(() => {
  time = new ManualTime();
  metrics = new RecordedMetrics();
  waits = [];
});

/** A table whose answers are the given ones, in order; the last one for ever. */
function callsOf(answers: (() => unknown)[], more: Partial<TableCallsOptions> = {}): TableCalls {
  let asked = 0;
  const client: OwnClient = {
    send: async () => answers[Math.min(asked++, answers.length - 1)]!() as never,
    destroy() {},
  };
  const sleep = (ms: number, signal?: AbortSignal) => {
    if (ms === 250) return time.sleep(ms, signal);
    waits.push(ms);
    return Promise.resolve();
  };
  const parts = { client, table: 'ids', clock: time, sleeper: { sleep }, random: ALMOST_ONE, metrics };
  return new TableCalls({ ...parts, timeoutMs: 250, attemptsMax: 3, ...more });
}

const refuse = (error: Error) => () => {
  throw error;
};
const never = () => new Promise(() => {});

// kills: table-calls.ts: attempt >= attemptsMax => attempt > attemptsMax
test('DDP-6: what passes is tried three times, and the throttle is the cause', async () => {
  const thrown = throttle();
  await expect(callsOf([refuse(thrown)]).send('put_item', PUT, 'not-done')).rejects.toMatchObject({
    code: 'unavailable',
    outcome: 'not-done',
    cause: thrown,
  });
  expect(waits).toHaveLength(2);
  const answer = await callsOf([refuse(throttle()), refuse(throttle()), () => ({})]).send('put_item', PUT, 'not-done');
  expect(answer).toEqual({ kind: 'done', output: {} });
  expect(metrics.requests).toEqual(['put_item unavailable', 'put_item ok']);
});

// kills: table-calls.ts: timeoutMs / (2 * (attemptsMax - 1)) => timeoutMs / 2
test.each([2, 3, 5, 10])('DDP-6: with %i attempts the waits take at most half of the deadline', async (attemptsMax) => {
  const calls = callsOf([refuse(throttle())], { attemptsMax });
  await expect(calls.send('put_item', PUT, 'not-done')).rejects.toThrow();
  expect(waits).toHaveLength(attemptsMax - 1);
  expect(waits.reduce((sum, ms) => sum + ms)).toBeLessThanOrEqual(125);
});

test('DDP-6: waits are jittered, from a ceiling of 25 ms that doubles', async () => {
  for (const seed of [1, 2, 3]) {
    const calls = callsOf([refuse(throttle())], { random: new SeededRandom(seed) });
    await expect(calls.send('put_item', PUT, 'not-done')).rejects.toThrow();
  }
  expect(new Set(waits).size).toBe(6);
  waits.forEach((ms, i) => expect(ms).toBeLessThan(i % 2 === 0 ? 25 : 50));
});

test('DDP-6: one attempt means no wait', async () => {
  const calls = callsOf([refuse(throttle())], { attemptsMax: 1 });
  await expect(calls.send('put_item', PUT, 'not-done')).rejects.toMatchObject({ code: 'unavailable' });
  expect(waits).toEqual([]);
});

// kills: table-calls.ts: (heard ?? thrown) => thrown
test('DDP-6: the deadline is for all attempts together, and its cause is what the table said last', async () => {
  const silent = callsOf([never]).send('put_item', PUT, 'unknown');
  const thrown = sdkError('InternalServerError');
  const throttledThenSilent = callsOf([refuse(thrown), never]).send('put_item', PUT, 'unknown');
  const both = Promise.allSettled([silent, throttledThenSilent]);
  while (time.sleepers < 2 || waits.length < 1) await Promise.resolve();
  time.advance(250);
  const reasons = (await both).map((one) => (one.status === 'rejected' ? one.reason : null));
  expect(reasons[0]).toMatchObject({ code: 'unavailable', outcome: 'unknown', cause: { name: 'DeadlinePassed' } });
  expect(reasons[1]).toMatchObject({ code: 'unavailable', cause: thrown });
});

test('DDP-6: a call that has ended leaves no deadline behind', async () => {
  await callsOf([() => ({})]).send('put_item', PUT, 'not-done');
  expect(time.sleepers).toBe(0);
});

test('DDP-6: a condition that does not hold is an answer, with what stands there', async () => {
  const held = { pk: { S: 'a' } };
  const answer = await callsOf([refuse(conditionFailed(held))]).send('put_item', PUT, 'not-done');
  expect(answer).toEqual({ kind: 'condition_failed', held });
  expect(metrics.requests).toEqual(['put_item condition_failed']);
});

test('DDP-6: what does not pass is not tried again', async () => {
  const calls = callsOf([refuse(sdkError('ResourceNotFoundException'))]);
  await expect(calls.send('put_item', PUT, 'not-done')).rejects.toMatchObject({ code: 'misconfigured' });
  expect(waits).toEqual([]);
  expect(metrics.requests).toEqual(['put_item error']);
});
