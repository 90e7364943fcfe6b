import { deepEqual } from 'node:assert/strict';
import type {
  Member,
  ParkedOp,
  RegisterChange,
  RegisterVersion,
  RemoveChange,
  Revisions,
  ViewChange,
  Views,
} from '../views.ts';
import { NOTHING_FOLDED, type WatermarkState } from '../watermark-state.ts';

export interface ViewsHarness {
  /** A worker's connection to the one, initially empty, store of the case; a second call is a second worker. The harness closes it. */
  open(): Promise<Views>;
  /** What the store does with a NUL in a name; default `held`. */
  readonly nul?: 'held' | 'refused';
  /** What it does with the stream whose name is empty; default `held`. */
  readonly emptyStream?: 'held' | 'refused';
}

export const STREAM = '0.events';
export const EPOCH = 1;
export const REVISIONS: Revisions = new Map([
  ['event', 0],
  ['task', 2],
]);

export const through = (foldedThrough: bigint): WatermarkState => ({ ...NOTHING_FOLDED, foldedThrough });

export function version(parts: Partial<RegisterVersion>): RegisterVersion {
  return { rank: 0n, lamport: 1n, site: 0n, seq: 1n, ...parts };
}

export function change(parts: Partial<RegisterChange>): RegisterChange {
  return {
    effect: 'register',
    kind: 'events',
    id: 'e1',
    field: 'body',
    shape: 'register',
    member: '',
    value: 'null',
    rule: 'higher',
    version: version({}),
    ...parts,
  };
}

/** The add of a member of a set. */
export function add(member: string, parts: Partial<RegisterChange> = {}): RegisterChange {
  return change({ field: 'labels', shape: 'set', member, value: JSON.stringify(member), rule: 'lower', ...parts });
}

export function remove(member: string, parts: Partial<RemoveChange> = {}): RemoveChange {
  return { effect: 'remove', kind: 'events', id: 'e1', field: 'labels', shape: 'set', member, seq: 9n, ...parts };
}

/** Makes the first epoch's rows visible. */
export async function show(views: Views, stream = STREAM): Promise<void> {
  await views.saveMark(stream, EPOCH, NOTHING_FOLDED, 0, REVISIONS);
}

export async function memberOf(views: Views, id = 'e1', field = 'body', stream = STREAM): Promise<Member | undefined> {
  return (await views.document(stream, 'events', id))?.fields.get(field)?.members.get('');
}

export async function valueOf(views: Views, id = 'e1', field = 'body', stream = STREAM): Promise<string | undefined> {
  return (await memberOf(views, id, field, stream))?.value;
}

/**
 * Writes the versions in every order, each write given twice, each order to a document of its own: the winner is always the same.
 * Values name the place of a version in `versions`.
 */
export async function winsInEveryOrder(
  views: Views,
  rule: RegisterChange['rule'],
  versions: readonly RegisterVersion[],
  winner: number,
): Promise<void> {
  await show(views);
  const orders = permutations(versions.map((_, place) => place));
  await inSteps(views, orders, (place) => change({ rule, value: String(place), version: versions[place]! }));
  await inSteps(views, orders, (place) => change({ rule, value: String(place), version: versions[place]! }));
  for (const { id, fields } of (await views.documents(STREAM, 'events', null, orders.length)).documents) {
    const member = fields.get('body')?.members.get('');
    deepEqual(member, { value: String(winner), version: versions[winner] }, `order ${id}`);
  }
}

/** Writes each order to a document of its own, named by the place of the order: the n-th of every order in the n-th call. */
export async function inSteps<Item>(
  views: Views,
  orders: readonly (readonly Item[])[],
  changeOf: (item: Item) => ViewChange,
): Promise<void> {
  for (const step of orders[0]!.keys()) {
    const changes = orders.map((order, at) => ({ ...changeOf(order[step]!), id: String(at) }));
    await views.apply(STREAM, EPOCH, changes);
  }
}

export function permutations<Item>(items: readonly Item[]): Item[][] {
  if (items.length === 0) return [[]];
  return items.flatMap((item) => permutations(items.filter((other) => other !== item)).map((rest) => [item, ...rest]));
}

/** The epoch that is built from now on. */
export async function startBuild(views: Views, stream = STREAM): Promise<number> {
  const build = await views.startBuild(stream, REVISIONS);
  if (build === 'conflict') throw new Error('a build is on already');
  return build.epoch;
}

export function parkedOp(seq: bigint, parts: Partial<ParkedOp> = {}): ParkedOp {
  return { seq, opId: `op-${seq}`, reason: 'why', parkedAtMs: 1_790_000_000_123, attempts: 1, ...parts };
}
