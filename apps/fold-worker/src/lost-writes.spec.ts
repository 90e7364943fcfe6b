import type { DynamoClient } from '@tidemark/libs-views-dynamodb';
import { STREAM, startFold } from './spec-fold.ts';

/** Views in a table in which nothing is stored yet, and whose writes nobody answers. */
async function lostViews() {
  const { dynamoViews } = await import('@tidemark/libs-views-dynamodb');
  const send = async ({ constructor: { name } }: object) => {
    if (/^(Get|Query)/.test(name)) return {};
    throw Object.assign(new Error('no answer'), { name: 'TimeoutError', $metadata: { attempts: 3 } });
  };
  return dynamoViews({ table: 'views', client: { send: send as DynamoClient['send'] } });
}

test.each([
  ['POST', `/v1/streams/${STREAM}/parked/1/retry`],
  ['DELETE', `/v1/streams/${STREAM}/parked/1`],
  ['POST', `/v1/streams/${STREAM}/rebuild`],
])('OPS-6: %s %s is 503 of unknown outcome when DynamoDB does not answer its write', async (method, path) => {
  const fold = await startFold();
  try {
    await fold.append('a');
    await fold.worker.tick();
    await fold.views.park(STREAM, 1, { seq: 1n, opId: 'a-0', reason: 'none', parkedAtMs: 0, attempts: 1 });
    const { apply, park, unpark, startBuild } = await lostViews();
    Object.assign(fold.views, { apply, park, unpark, startBuild });
    const answer = await fetch(`${fold.url}${path}`, { method });
    expect([answer.status, answer.headers.get('tidemark-outcome'), answer.headers.get('retry-after')]).toEqual([
      503,
      'unknown',
      '1',
    ]);
    expect(await answer.json()).toEqual({ error: 'not available now: try again later' });
  } finally {
    await fold.close();
  }
});
