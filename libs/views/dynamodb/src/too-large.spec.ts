import { type FaultProxy, serverTests, startFaultProxy } from '@tidemark/tools-services/testing';
import type { RegisterChange, Views } from '@tidemark/libs-views-contract';
import { STREAM, adds, bodyOf, change, show } from './spec-changes.ts';
import { specClient, specTable } from './spec-table.ts';
import { dynamoViews } from './views.ts';

const dynamodbTest = serverTests('dynamodb');

function sizeTest(title: string, run: (views: Views, proxy: FaultProxy) => Promise<void>): void {
  dynamodbTest(title, async ({ endpoint }) => {
    const proxy = await startFaultProxy(endpoint);
    try {
      const { table } = await specTable(endpoint);
      const views = dynamoViews({ client: specClient(proxy.endpoint, 1), table });
      await show(views);
      await run(views, proxy);
    } finally {
      await proxy.close();
    }
  });
}

const big = (id: string, lamport: number, bytes: number, parts: Partial<RegisterChange> = {}) =>
  change(id, lamport, { value: JSON.stringify('x'.repeat(bytes - 2)), ...parts });

const TOO_LARGE = {
  code: 'too_large',
  message: expect.stringMatching(/^document "events" "a", field "(body|labels)": .* 409600 bytes of an item$/),
};

// kills: apply.ts: if (frame + cellBytes(cell) > ITEM_BYTES_MAX) throw tooLarge(cell); => void frame;
sizeTest('FLD-6: a value beyond 400 KB is refused before anything of its call is sent', async (views, proxy) => {
  proxy.traffic();
  await expect(views.apply(STREAM, 1, [change('b', 1), big('a', 1, 409_600)])).rejects.toMatchObject(TOO_LARGE);
  expect(proxy.traffic().requests).toEqual({});
  expect(await bodyOf(views, 'b')).toBeUndefined();
});

sizeTest('FLD-6: a document that outgrows 400 KB by small steps stays as it was', async (views) => {
  const part = (at: number) =>
    big('a', 1, 100_000, { field: 'labels', shape: 'list', member: `m${at}`, rule: 'lower' });
  for (const at of [0, 1, 2, 3]) await views.apply(STREAM, 1, [part(at)]);
  await expect(views.apply(STREAM, 1, [part(4)])).rejects.toMatchObject(TOO_LARGE);
  await expect(views.apply(STREAM, 1, [big('a', 1, 50_000), ...adds('a', ['x'])])).rejects.toMatchObject(TOO_LARGE);
  const document = await views.document(STREAM, 'events', 'a');
  expect([...document!.fields.get('labels')!.members.keys()].sort()).toEqual(['m0', 'm1', 'm2', 'm3']);
  expect(document!.fields.has('body')).toBe(false);
  await views.apply(STREAM, 1, [change('a', 1)]);
  expect(await bodyOf(views, 'a')).toBe('1');
});

// kills: apply.ts: (bytes += cellBytes(cell)) > ITEM_BYTES_MAX || at === CELLS_MAX => at === CELLS_MAX
sizeTest('FLD-6: what fits no item together is sent in parts, the first of which are stored', async (views) => {
  const part = (member: string) => big('a', 1, 150_000, { field: 'labels', shape: 'set', member, rule: 'lower' });
  await expect(views.apply(STREAM, 1, ['a', 'b', 'c'].map(part))).rejects.toMatchObject(TOO_LARGE);
  const members = async () => (await views.document(STREAM, 'events', 'a'))!.fields.get('labels')!.members;
  expect([...(await members()).keys()].sort()).toEqual(['a', 'b']);
  const { kind, id, field, shape } = part('');
  await views.apply(STREAM, 1, [{ effect: 'remove', kind, id, field, shape, member: 'a', seq: 9n }]);
  await views.apply(STREAM, 1, ['a', 'b', 'c'].map(part));
  expect([...(await members()).keys()].sort()).toEqual(['b', 'c']);
});

// kills: apply.ts: if (Buffer.byteLength(cell.name) > NAME_BYTES_MAX) => if (false)
sizeTest('FLD-6: a field beyond the name of an attribute is too large', async (views) => {
  const field = 'f'.repeat(65_535);
  await expect(views.apply(STREAM, 1, [change('a', 1, { field })])).rejects.toMatchObject({
    code: 'too_large',
    message: expect.stringContaining('its field and member take more than 65535 bytes'),
  });
  await views.apply(STREAM, 1, [change('a', 1, { field: field.slice(1) })]);
});

sizeTest('FLD-6: a member that is removed makes room', async (views) => {
  const part = (member: string) => big('a', 1, 300_000, { field: 'labels', shape: 'set', member, rule: 'lower' });
  await views.apply(STREAM, 1, [part('old')]);
  await expect(views.apply(STREAM, 1, [part('new')])).rejects.toMatchObject(TOO_LARGE);
  const { kind, id, field, shape, member } = part('old');
  await views.apply(STREAM, 1, [{ effect: 'remove', kind, id, field, shape, member, seq: 9n }]);
  await views.apply(STREAM, 1, [part('new')]);
  const document = await views.document(STREAM, 'events', 'a');
  expect([...document!.fields.get('labels')!.members.keys()]).toEqual(['new']);
});

// kills: apply.ts: if (!fitsKey(sk)) => if (false)
sizeTest('FLD-6: a name beyond a sort key is too large, and a read of it finds nothing', async (views) => {
  const id = 'é'.repeat(600);
  await expect(views.apply(STREAM, 1, [change(id, 1)])).rejects.toMatchObject({
    code: 'too_large',
    message: expect.stringContaining('its name takes more than 1024 bytes of a key'),
  });
  expect(await views.document(STREAM, 'events', id)).toBeNull();
  await views.apply(STREAM, 1, [change('a', 1), change('ê', 1)]);
  expect((await views.documents(STREAM, 'events', id, 10)).documents.map((found) => found.id)).toEqual(['ê']);
  await expect(
    views.saveMark('s'.repeat(1001), 1, (await views.mark(STREAM))!.watermark, 0, new Map()),
  ).rejects.toMatchObject({
    code: 'invalid',
  });
});
