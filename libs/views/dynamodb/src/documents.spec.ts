import { type Hold, callsOf, first, hold, serverTests, startFaultProxy } from '@tidemark/tools-services/testing';
import type { Views } from '@tidemark/libs-views-contract';
import { STREAM, bodyOf, change, show } from './spec-changes.ts';
import { specClient, specTable } from './spec-table.ts';
import { dynamoViews } from './views.ts';

const dynamodbTest = serverTests('dynamodb');

/** Reads through the proxy while another worker moves the stream on to the next epoch and drops the old one. */
function switchTest(title: string, held: () => Hold, read: (views: Views) => Promise<unknown>, answer: unknown): void {
  dynamodbTest(title, async ({ endpoint }) => {
    const proxy = await startFaultProxy(endpoint);
    try {
      const { client, table } = await specTable(endpoint);
      const worker = dynamoViews({ client, table });
      await worker.apply(STREAM, 1, [change('a', 1), change('b', 1)]);
      await show(worker);
      await worker.startBuild(STREAM, new Map());
      await worker.apply(STREAM, 2, [change('a', 1, { value: '"new"' }), change('b', 1, { value: '"new"' })]);
      const { rule, arrived, release } = held();
      proxy.add(rule);
      const reading = read(dynamoViews({ client: specClient(proxy.endpoint), table }));
      await arrived;
      await worker.switchTo(STREAM, 2);
      expect(await worker.dropEpochs(STREAM, 100)).toBe(2);
      release();
      expect(await reading).toEqual(answer);
    } finally {
      await proxy.close();
    }
  });
}

const values = async (views: Views) => {
  const { documents } = await views.documents(STREAM, 'events', null, 10);
  return documents.map(({ fields }) => fields.get('body')?.members.get('')?.value);
};

// kills: documents.ts: const now = isCertain ? shown : await shownEpoch(table, stream); => const now = shown;
switchTest(
  'FLD-7: a page whose epoch is left and dropped while it is read is read again, whole',
  () => hold(first(1, callsOf('Query'))),
  values,
  ['"new"', '"new"'],
);

switchTest(
  'FLD-7: a document whose epoch is left and dropped while it is read is found in the next',
  () => hold(callsOfDocument()),
  (views) => bodyOf(views, 'a'),
  '"new"',
);

/** The read of the document, not that of the mark before it. */
function callsOfDocument() {
  return first(1, ({ name, body }: { name: string; body: Readonly<Record<string, unknown>> }) => {
    const key = body['Key'] as { readonly sk?: { readonly S?: string } } | undefined;
    return name === 'GetItem' && key?.sk?.S !== '.mark';
  });
}

dynamodbTest('OPS-4: a page is read in steps, each of some megabytes at most', async ({ endpoint }) => {
  const { client, table } = await specTable(endpoint);
  const views = dynamoViews({ client, table });
  await show(views);
  const ids = Array.from({ length: 12 }, (_, at) => String(at).padStart(2, '0'));
  const value = JSON.stringify('v'.repeat(300_000));
  for (const id of ids) await views.apply(STREAM, 1, [change(id, 1, { value })]);
  const { documents, next } = await views.documents(STREAM, 'events', null, 10, 100_000_000);
  expect([documents.map(({ id }) => id), next]).toEqual([ids.slice(0, 10), '09']);
  expect((await views.documents(STREAM, 'events', null, 10, 700_000)).documents).toHaveLength(3);
});
