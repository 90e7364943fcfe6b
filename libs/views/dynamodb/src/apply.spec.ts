import { type FaultProxy, serverTests, startFaultProxy } from '@tidemark/tools-services/testing';
import type { Views } from '@tidemark/libs-views-contract';
import { STREAM, adds, bodyOf, change, remove, show, tags } from './spec-changes.ts';
import { type SpecTable, specClient, specTable } from './spec-table.ts';
import { dynamoViews } from './views.ts';

const dynamodbTest = serverTests('dynamodb');

interface Scene extends SpecTable {
  readonly views: Views;
  readonly proxy: FaultProxy;
  /** Requests since the last look. */
  requests(): Readonly<Record<string, number>>;
}

function applyTest(title: string, run: (scene: Scene) => Promise<void>): void {
  dynamodbTest(title, async ({ endpoint }) => {
    const proxy = await startFaultProxy(endpoint);
    try {
      const spec = await specTable(endpoint);
      const views = dynamoViews({ client: specClient(proxy.endpoint, 1), table: spec.table });
      await show(views);
      proxy.traffic();
      await run({ ...spec, views, proxy, requests: () => proxy.traffic().requests });
    } finally {
      await proxy.close();
    }
  });
}

applyTest('FLD-1: changes of one document are one request, of several one each', async ({ views, requests }) => {
  await views.apply(STREAM, 1, [change('a', 1), ...adds('a', tags(20)), remove('a', 'tag-000')]);
  expect(requests()).toEqual({ UpdateItem: 1 });
  await views.apply(STREAM, 1, [change('a', 2), change('b', 2), change('c', 2), change('c', 3)]);
  expect(requests()).toEqual({ UpdateItem: 3 });
  expect(await bodyOf(views, 'c')).toBe('3');
});

applyTest('FLD-1: a repeat of everything is one refused request per document', async ({ views, requests }) => {
  const all = [change('a', 1), ...adds('a', tags(20)), remove('a', 'tag-000'), change('b', 1)];
  await views.apply(STREAM, 1, all);
  requests();
  await views.apply(STREAM, 1, all);
  expect(requests()).toEqual({ UpdateItem: 2 });
});

applyTest('FLD-1: of a group that is partly older the rest is sent again, alone', async ({ views, requests }) => {
  await views.apply(STREAM, 1, [change('a', 5)]);
  requests();
  await views.apply(STREAM, 1, [change('a', 4), ...adds('a', ['x'])]);
  expect(requests()).toEqual({ UpdateItem: 2 });
  expect(await bodyOf(views, 'a')).toBe('5');
  const labels = (await views.document(STREAM, 'events', 'a'))?.fields.get('labels');
  expect([...(labels?.members.keys() ?? [])]).toEqual(['x']);
});

// kills: apply.ts: const CELLS_MAX = 70; => const CELLS_MAX = 200;
applyTest('FLD-1: a group has no more cells than an expression has room for', async ({ views, requests }) => {
  await views.apply(STREAM, 1, adds('a', tags(141)));
  expect(requests()).toEqual({ UpdateItem: 3 });
  await views.apply(
    STREAM,
    1,
    tags(141).map((tag) => remove('a', tag)),
  );
  expect(await views.document(STREAM, 'events', 'a')).toBeNull();
});

applyTest('FLD-1: an add that comes after its remove is not stored, and takes no room', async ({ views, item }) => {
  await views.apply(STREAM, 1, [remove('a', 'x')]);
  await views.apply(STREAM, 1, [change('a', 1), ...adds('a', ['x'])]);
  const names = Object.keys((await item(STREAM, '0000000001#events#a')) ?? {}).sort();
  expect(names).toEqual(['body#', 'labels#x', 'sk', 'stream_id']);
  expect((await item(STREAM, '0000000001#events#a'))?.['labels#x']).toEqual({ M: { s: { S: 'set' }, x: { N: '9' } } });
});

applyTest('FLD-5: workers that write one document together lose nothing', async ({ views, client, table }) => {
  const workers = [views, dynamoViews({ client, table }), dynamoViews({ client, table })];
  await Promise.all(
    workers.map((worker, at) => worker.apply(STREAM, 1, [change('a', at + 1), ...adds('a', [`of-${at}`, 'shared'])])),
  );
  expect(await bodyOf(views, 'a')).toBe('3');
  const labels = (await views.document(STREAM, 'events', 'a'))?.fields.get('labels');
  expect([...(labels?.members.keys() ?? [])].sort()).toEqual(['of-0', 'of-1', 'of-2', 'shared']);
});
