import { deepEqual, equal, rejects } from 'node:assert/strict';
import type { Fault } from '@tidemark/libs-kernel';
import type { ConformanceCase } from '@tidemark/libs-kernel/testing';
import { EPOCH, STREAM, type ViewsHarness, add, change, remove, show, through } from './harness.ts';

const LONE = 'a\ud800';
const NAMES_WITH_NUL = ['\0', 'a\0', 'a\0b'];

/** Texts that a store holds exactly, or refuses with the document's name. */
export const refusalCases: readonly ConformanceCase<ViewsHarness>[] = [
  {
    title: 'FLD-6: a lone surrogate in any text of a change is invalid, and nothing of the call is stored',
    kills: 'takesLoneSurrogates',
    async run({ open }) {
      const views = await open();
      await show(views);
      const bad = [
        change({ kind: LONE }),
        change({ id: LONE }),
        change({ field: LONE }),
        change({ value: `"${LONE}"` }),
        add(LONE),
        remove(LONE),
      ];
      for (const one of bad) {
        await rejects(views.apply(STREAM, EPOCH, [change({ id: 'before' }), one]), names('invalid', one));
      }
      equal(await views.document(STREAM, 'events', 'before'), null);
      equal(await views.document(STREAM, 'events', LONE), null);
      equal(await views.document(STREAM, 'events', 'a\ufffd'), null);
      deepEqual(await views.documents(STREAM, LONE, null, 10), { documents: [], next: null });
    },
  },
  {
    title: 'SEC-2: names with NUL are documents of their own, or are refused as invalid where the store holds no NUL',
    kills: 'endsIdsAtNul',
    async run({ open, nul = 'held' }) {
      const views = await open();
      await show(views);
      await views.apply(STREAM, EPOCH, [change({ id: 'a', value: '"a"' })]);
      for (const id of NAMES_WITH_NUL) {
        const one = change({ id, field: id, member: id, value: JSON.stringify(id) });
        if (nul === 'refused') await rejects(views.apply(STREAM, EPOCH, [one]), names('invalid', one));
        else await views.apply(STREAM, EPOCH, [one]);
      }
      for (const id of NAMES_WITH_NUL) {
        const document = await views.document(STREAM, 'events', id);
        const held = nul === 'held' ? JSON.stringify(id) : undefined;
        equal(document?.fields.get(id)?.members.get(id)?.value, held);
      }
      const all = (await views.documents(STREAM, 'events', null, 10)).documents.map(({ id }) => id);
      deepEqual(all, nul === 'held' ? ['\0', 'a', 'a\0', 'a\0b'] : ['a']);
      const above = (await views.documents(STREAM, 'events', 'a\0', 10)).documents.map(({ id }) => id);
      deepEqual(above, nul === 'held' ? ['a\0b'] : []);
      deepEqual(await views.documents(STREAM, 'events\0', null, 10), { documents: [], next: null });
    },
  },
  {
    title: 'SEC-2: a stream with NUL has a mark of its own, or is refused as invalid where the store holds no NUL',
    async run({ open, nul = 'held' }) {
      const views = await open();
      const save = () => views.saveMark('a\0', EPOCH, through(1n), 0, new Map());
      if (nul === 'refused') await rejects(save(), { code: 'invalid' });
      else equal(await save(), 'saved');
      equal(await views.mark('a'), null);
      equal((await views.mark('a\0'))?.version, nul === 'held' ? 1 : undefined);
      await rejects(views.saveMark(LONE, EPOCH, through(1n), 0, new Map()), { code: 'invalid' });
      equal(await views.mark(LONE), null);
    },
  },
  {
    title: 'SEC-2: the stream whose name is empty has a mark and rows of its own, or is refused as invalid',
    async run({ open, emptyStream = 'held' }) {
      const views = await open();
      await show(views, 'other');
      if (emptyStream === 'refused') {
        await rejects(views.saveMark('', EPOCH, through(1n), 0, new Map()), { code: 'invalid' });
        await rejects(views.apply('', EPOCH, [change({})]), { code: 'invalid' });
      } else {
        await show(views, '');
        await views.apply('', EPOCH, [change({})]);
      }
      equal((await views.mark('')) === null, emptyStream === 'refused');
      equal((await views.document('', 'events', 'e1')) === null, emptyStream === 'refused');
      equal(await views.document('other', 'events', 'e1'), null);
    },
  },
];

function names(code: string, { kind, id, field }: { kind: string; id: string; field: string }) {
  return (thrown: Fault) => {
    equal(thrown.code, code);
    for (const name of [kind, id, field]) equal(thrown.message.includes(JSON.stringify(name)), true, thrown.message);
    return true;
  };
}
