import { anOp } from '@tidemark/libs-op-store-contract/testing';
import type { Op } from '@tidemark/libs-wire';
import * as fc from 'fast-check';

const US = '\u001f';
const RS = '\u001e';
const pick = <T>(...of: readonly T[]) => fc.constantFrom(...of);

/** Few names, so that ops meet; some that are compared, split and escaped in a way of their own. */
const name = pick('a', 'b', '\uffee', '😀', 'x#%');
const tag = pick('o1', 'o2', 'o3', '\uffee', '😀');
const tags = fc.array(tag, { maxLength: 3 }).map((all) => all.join(US));
const value = fc.option(pick('v', 'w', '', '12', '-5', '"\\\n\0'), { freq: 4 });
const parts = (...of: readonly fc.Arbitrary<string>[]) =>
  fc
    .tuple(
      fc.tuple(...of).map((all) => all.join(US)),
      pick('', '', '', '', US, `${US}more`),
    )
    .map(([whole, odd]) => whole + odd);

const shape = (fields: { readonly [K in keyof Op]?: fc.Arbitrary<Op[K]> }) => fc.record(fields);
const of = (domain: string, targetKind: string, ...opTypes: readonly string[]) => ({
  domain: fc.constant(domain),
  targetKind: fc.constant(targetKind),
  opType: pick(...opTypes),
});

const edge = pick('dep', 'contributes_to', 'mentions', 'parent', 'parent', 'blocks');
const envelope = fc
  .record(
    {
      origin: pick('here', 'there'),
      channel_id: name,
      kind: fc.constant('info'),
      priority: fc.constant('normal'),
      disposition: fc.constant('in_turn'),
      thread_id: pick<unknown>(null, 't1', 7),
      refs: pick<unknown>([], ['a'], { n: 1.5 }),
      body: pick('b', 'c', ''),
      created: fc.constant('then'),
      parent: pick(null, 'p'),
    },
    { requiredKeys: ['origin', 'channel_id', 'kind', 'priority', 'disposition', 'body'] },
  )
  .map((whole) => JSON.stringify(whole));

const tasks = [
  shape({
    ...of('task', 'item', 'set', 'set:crdt-text'),
    targetId: name,
    field: pick('title', 'status', 'deleted', 'odd'),
    value,
  }),
  shape({ ...of('task', 'field', 'set', 'set:crdt-text'), targetId: name, field: pick('size', '😀', ''), value }),
  shape({ ...of('task', 'edge', 'add'), targetId: parts(name, name, edge) }),
  shape({ ...of('task', 'edge', 'remove'), targetId: parts(name, name, edge), value: tags }),
  shape({ ...of('task', 'label', 'add'), targetId: parts(name, pick('l', 'm', '')) }),
  shape({ ...of('task', 'label', 'remove'), targetId: parts(name, pick('l', 'm')), value: tags }),
  shape({
    ...of('task', 'thread_link', 'add', 'remove'),
    targetId: parts(name, name, pick('worked_on', 'cited', 'odd'), pick('bearing', 'passing')),
    value: tags,
  }),
  shape({ ...of('task', 'note', 'note_add'), targetId: name, value }),
  shape({ ...of('task', 'note', 'set'), targetId: tag, field: pick('deleted', 'deleted', 'odd') }),
  shape({ ...of('task', 'chunk', 'append'), targetId: name, field: pick('design', 'body'), value }),
  shape({
    ...of('task', 'chunk', 'supersede'),
    targetId: name,
    field: pick('design', 'body'),
    value: fc.tuple(tags, pick(RS, RS, ''), pick('new', `n${RS}m`, '')).map((all) => all.join('')),
  }),
];

const others = [
  shape({
    ...of('message', 'message', 'post'),
    targetId: pick('m-o1', 'm-o2', 'm-\uffee', 'old'),
    value: fc.oneof(envelope, value),
  }),
  shape({
    ...of('message', 'thread', 'open'),
    targetId: pick('m-o1', 'm-o2', 'old'),
    value: fc.oneof(envelope, value),
  }),
  shape({
    ...of('message', 'thread', 'set'),
    targetId: pick('m-o1', 'old'),
    field: pick('name', 'deadline', 'root'),
    value,
  }),
  shape({ ...of('message', 'channel', 'set'), targetId: name, field: pick('name', 'kind', 'members'), value }),
  shape({ ...of('message', 'profile', 'set'), targetId: name, field: pick('job_title', 'origin', 'odd'), value }),
  shape({ ...of('message', 'membership', 'add', 'remove'), targetId: parts(name, name), value: tags }),
  shape({ ...of('fact', 'fact', 'set', 'forget'), targetId: name, value }),
  shape({
    ...of('fact', 'classification', 'set'),
    targetId: name,
    field: pick('category', 'ordinal', 'odd'),
    value: pick('1', '2', 'v'),
  }),
  shape({ ...of('odd', 'item', 'set'), targetId: name, value }),
];

const fields = shape({
  opId: tag,
  lamport: pick(-3n, 0n, 1n, 2n, 3n, 2n ** 62n, 2n ** 62n + 1n),
  site: pick(-(2n ** 63n), 0n, 1n),
  author: pick('mira', 'noa', ' '),
  wallClock: pick('t1', 't2', 't3', ''),
});

/** Ops of docs/examples/tasks.json that meet often, in one document, with one version, with one op id; and some that are none of it. */
export const anyTaskOp: fc.Arbitrary<Op> = fc
  .tuple(fc.oneof(...tasks, ...others), fields)
  .map(([shaped, rest]) => anOp({ ...rest, ...shaped } as Partial<Op>));
