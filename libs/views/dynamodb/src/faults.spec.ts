import {
  type Call,
  type FaultProxy,
  type Rule,
  callsOf,
  fail,
  first,
  leaveUnprocessed,
  loseAnswer,
  serverTests,
  startFaultProxy,
  throttle,
} from '@tidemark/tools-services/testing';
import { NOTHING_FOLDED, type Views } from '@tidemark/libs-views-contract';
import { STREAM, bodyOf, change, show } from './spec-changes.ts';
import { specClient, specTable } from './spec-table.ts';
import { dynamoViews } from './views.ts';

const dynamodbTest = serverTests('dynamodb');

interface Scene {
  readonly views: Views;
  /** As the SDK works in production: it repeats what nobody answered. */
  readonly repeating: Views;
  readonly proxy: FaultProxy;
}

function faultTest(title: string, run: (scene: Scene) => Promise<void>): void {
  dynamodbTest(title, async ({ endpoint }) => {
    const proxy = await startFaultProxy(endpoint);
    try {
      const { table } = await specTable(endpoint);
      const views = dynamoViews({ client: specClient(proxy.endpoint, 1), table });
      const repeating = dynamoViews({ client: specClient(proxy.endpoint, 2), table });
      await show(views);
      await run({ views, repeating, proxy });
    } finally {
      await proxy.close();
    }
  });
}

const NONE = new Map<string, number>();
const through = (foldedThrough: bigint) => ({ ...NOTHING_FOLDED, foldedThrough });
const updates = callsOf('UpdateItem');
/** Writes of marks, past the registry of streams. */
const marks = ({ name, body }: Call) =>
  name === 'UpdateItem' && (body['Key'] as { readonly sk: { readonly S: string } }).sk.S === '.mark';

/** Serves nothing of a batch. */
const serveNothing: Rule = async (call, forward) => {
  if (call.name !== 'BatchGetItem') return forward(call);
  const body = JSON.stringify({ Responses: {}, UnprocessedKeys: call.body['RequestItems'] });
  return { kind: 'answer', status: 200, body: Buffer.from(body) };
};

faultTest('OPS-6: what DynamoDB throttles is unavailable and not done', async ({ views, proxy }) => {
  proxy.add(throttle(updates));
  const busy = { code: 'unavailable', outcome: 'not-done', retryAfterMs: 1000 };
  await expect(views.apply(STREAM, 1, [change('a', 1)])).rejects.toMatchObject(busy);
  await expect(views.saveMark(STREAM, 1, through(1n), 1, NONE)).rejects.toMatchObject(busy);
  proxy.clear();
  expect(await bodyOf(views, 'a')).toBeUndefined();
  expect((await views.mark(STREAM))?.version).toBe(1);
});

faultTest('FLD-9: a write that nobody answered is unknown, and a repeat finds it done', async ({ views, proxy }) => {
  const unknown = { code: 'unavailable', outcome: 'unknown', retryAfterMs: 1000 };
  proxy.add(loseAnswer(first(1, updates)));
  await expect(views.apply(STREAM, 1, [change('a', 1)])).rejects.toMatchObject(unknown);
  await views.apply(STREAM, 1, [change('a', 1)]);
  expect(await bodyOf(views, 'a')).toBe('1');
  proxy.add(loseAnswer(first(1, updates)));
  await expect(views.saveMark(STREAM, 1, through(1n), 1, NONE)).rejects.toMatchObject(unknown);
  expect(await views.saveMark(STREAM, 1, through(1n), 1, NONE)).toBe('saved');
  expect((await views.mark(STREAM))?.version).toBe(2);
});

// kills: marks.ts: updated.kind === 'written' || holds(updated.item, role, map) => updated.kind === 'written'
faultTest('FLD-5: a save whose answer is lost on its way is saved, once', async ({ repeating, proxy }) => {
  proxy.add(loseAnswer(first(1, updates)));
  expect(await repeating.saveMark(STREAM, 1, through(1n), 1, NONE)).toBe('saved');
  expect((await repeating.mark(STREAM))?.version).toBe(2);
});

// kills: marks.ts: updated.kind === 'written' || holds(updated.item, 'shown', map) => updated.kind === 'written'
faultTest('FLD-5: a first save whose answer is lost on its way is saved', async ({ repeating, proxy }) => {
  proxy.add(loseAnswer(first(1, marks)));
  expect(await repeating.saveMark('new', 1, through(1n), 0, NONE)).toBe('saved');
});

// kills: epochs.ts: updated.kind === 'written' || epochOf(updated.item, 'shown') === epoch => updated.kind === 'written'
faultTest('FLD-7: a switch whose answer is lost on its way is switched', async ({ repeating, proxy }) => {
  await repeating.startBuild(STREAM, NONE);
  proxy.add(loseAnswer(first(1, updates)));
  expect(await repeating.switchTo(STREAM, 2)).toBe('switched');
  expect((await repeating.mark(STREAM))?.epoch).toBe(2);
});

faultTest(
  'FLD-7: a build whose answer is lost on its way is there to be gone on with',
  async ({ repeating, proxy }) => {
    proxy.add(loseAnswer(first(1, marks)));
    expect(await repeating.startBuild(STREAM, NONE)).toBe('conflict');
    expect(await repeating.build(STREAM)).toMatchObject({ epoch: 2, version: 1 });
  },
);

faultTest(
  'FLD-9: of a call that fails some documents are stored, each whole, and a repeat stores the rest',
  async (scene) => {
    const { views, proxy } = scene;
    const ids = ['a', 'b', 'c', 'd', 'e', 'f'];
    const all = ids.flatMap((id) => [change(id, 1), change(id, 1, { field: 'title' })]);
    proxy.add(throttle(first(2, updates)));
    await expect(views.apply(STREAM, 1, all)).rejects.toMatchObject({ code: 'unavailable' });
    const { documents } = await views.documents(STREAM, 'events', null, 10);
    expect(documents.length).toBeLessThan(6);
    for (const { fields } of documents) expect([...fields.keys()].sort()).toEqual(['body', 'title']);
    await views.apply(STREAM, 1, all);
    expect((await views.documents(STREAM, 'events', null, 10)).documents).toHaveLength(6);
  },
);

// kills: views-table.ts: left = [...rest, ...left.slice(KEYS_MAX)]; => left = left.slice(KEYS_MAX);
faultTest('FLD-3: marks that a batch leaves over are asked for again', async ({ views, proxy }) => {
  for (const stream of ['a', 'b', 'c', 'd']) await views.saveMark(stream, 1, through(1n), 0, NONE);
  proxy.add(leaveUnprocessed(2));
  expect((await views.marks(null, 10)).map(({ stream }) => stream)).toEqual([STREAM, 'a', 'b', 'c', 'd']);
  proxy.clear();
  proxy.add(serveNothing);
  await expect(views.marks(null, 10)).rejects.toMatchObject({ code: 'unavailable' });
});

faultTest('OPS-6: a server that fails is unavailable for reads, and unknown for writes', async ({ views, proxy }) => {
  proxy.add(fail(() => true, 'InternalServerError', 500));
  await expect(views.mark(STREAM)).rejects.toMatchObject({ code: 'unavailable' });
  await expect(views.ping()).rejects.toMatchObject({ code: 'unavailable' });
  await expect(views.apply(STREAM, 1, [change('a', 1)])).rejects.toMatchObject({
    code: 'unavailable',
    outcome: 'unknown',
  });
  await expect(views.dropEpochs(STREAM, 10)).rejects.toMatchObject({ code: 'unavailable' });
});

faultTest('OPS-2: a right that was taken away is a wrong setting', async ({ views, proxy }) => {
  proxy.add(fail(() => true, 'AccessDeniedException'));
  await expect(views.mark(STREAM)).rejects.toMatchObject({ code: 'misconfigured' });
  await expect(views.apply(STREAM, 1, [change('a', 1)])).rejects.toMatchObject({
    code: 'misconfigured',
    outcome: 'not-done',
  });
});
