import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { SequencedOp } from '@tidemark/libs-op-store-contract';
import { MemoryViews } from '@tidemark/libs-views-contract/testing';
import { listDocuments } from '../../document-reader.ts';
import { Reducers } from '../../reduce.ts';
import { compileDeclaration } from '../../reducers/compile.ts';
import { readDeclaration } from '../../reducers/declaration-text.ts';
import { emptyWatermark } from '../../watermark.ts';
import type { Folded } from './canonical.ts';

const file = resolve(import.meta.dirname, '../../../../../docs/examples/tasks.json');
const text = readFileSync(file, 'utf8');

export const exampleReducers = compileDeclaration(readDeclaration(text, 'tasks.json'), 'tasks.json').reducers;
export const taskReducers = new Reducers(exampleReducers);

const KINDS = ['item', 'note', 'chunked', 'message', 'channel', 'profile', 'thread', 'fact'];

/** Applies the ops in the order in which they come, cell by cell, so that two folds get in between each other's. */
export async function fold(views: MemoryViews, ops: readonly SequencedOp[]): Promise<void> {
  for (const op of ops) {
    const reduced = taskReducers.reduce(op);
    for (const change of reduced.kind === 'folded' ? reduced.changes : []) await views.apply('s', 1, [change]);
  }
}

/** What readers get, to the byte. */
export async function textsOf(views: MemoryViews): Promise<string[]> {
  await views.saveMark('s', 1, emptyWatermark(), 0, new Map());
  return Promise.all(KINDS.map((kind) => listDocuments(views, 's', kind, null, 1000)));
}

export function parsed(texts: readonly string[]): Folded {
  const documents = texts.flatMap((text) => JSON.parse(text).documents);
  return Object.fromEntries(documents.map(({ kind, id, fields }) => [`${kind}/${id}`, fields]));
}
