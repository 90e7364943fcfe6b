import { type Reducer, Reducers } from '@tidemark/libs-fold';
import type { SequencedOp } from '@tidemark/libs-op-store-contract';
import { type Document, FIRST_EPOCH, type Views } from '@tidemark/libs-views-contract';
import { MemoryViews } from '@tidemark/libs-views-contract/testing';
import { POISON_KIND } from './sim-views.ts';

/** Every kind that an op of a run may write. */
const KINDS = ['doc'];
const DOCUMENTS_MAX = 1000;

/** The documents that the ops give when they are folded one by one, in their order, by nobody but a memory model. */
export async function fullFold(
  stream: string,
  ops: readonly SequencedOp[],
  reducer: Reducer,
): Promise<ReadonlyMap<string, string>> {
  const reducers = new Reducers([reducer]);
  const views = new MemoryViews();
  const nothing = { foldedThrough: 0n, ahead: [], holes: [], skipped: [], floor: 0n };
  await views.saveMark(stream, FIRST_EPOCH, nothing, 0, new Map());
  for (const op of ops) {
    const reduced = reducers.reduce(op);
    if (reduced.kind === 'folded' && op.op.targetKind !== POISON_KIND)
      await views.apply(stream, FIRST_EPOCH, reduced.changes);
  }
  return shownDocuments(views, stream);
}

/** What readers see of a stream, as texts that are equal for equal documents. */
export async function shownDocuments(views: Views, stream: string): Promise<ReadonlyMap<string, string>> {
  const texts = new Map<string, string>();
  for (const kind of KINDS) {
    const { documents } = await views.documents(stream, kind, null, DOCUMENTS_MAX);
    for (const document of documents) texts.set(`${kind}/${document.id}`, textOf(document));
  }
  return texts;
}

function textOf({ fields }: Document): string {
  const shown = [...fields].map(([name, { shape, members }]) => {
    const present = [...members].map(
      ([
        member,
        {
          value,
          version: { rank, lamport, site, seq },
        },
      ]) => [member, value, rank, lamport, site, seq].join(' '),
    );
    return `${name} ${shape} ${present.sort().join('; ')}`;
  });
  return shown.sort().join('\n');
}
