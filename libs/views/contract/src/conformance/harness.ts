import { deepEqual } from 'node:assert/strict';
import type { RegisterChange, RegisterVersion, Views, WatermarkState } from '../views.ts';

export interface ViewsHarness {
  /** A worker's connection to the one, initially empty, store of the case; a second call is a second worker. The harness closes it. */
  open(): Promise<Views>;
}

export const STREAM = '0.events';
export const EPOCH = 1;

export const NOTHING_FOLDED: WatermarkState = { foldedThrough: 0n, ahead: [], holes: [], floor: 0n };

export function version(parts: Partial<RegisterVersion>): RegisterVersion {
  return { rank: 0n, lamport: 1n, site: 0n, seq: 1n, ...parts };
}

export function change(parts: Partial<RegisterChange>): RegisterChange {
  return {
    effect: 'register',
    kind: 'events',
    id: 'e1',
    field: 'body',
    value: 'null',
    rule: 'higher',
    version: version({}),
    ...parts,
  };
}

/** Makes an epoch's rows visible. */
export async function show(views: Views, stream = STREAM, epoch = EPOCH): Promise<void> {
  const stored = await views.mark(stream);
  await views.saveMark(stream, epoch, stored?.watermark ?? NOTHING_FOLDED, stored?.version ?? 0);
}

export async function valueOf(views: Views, id = 'e1', field = 'body', stream = STREAM): Promise<string | undefined> {
  return (await views.document(stream, 'events', id))?.fields.get(field)?.value;
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
  for (const order of permutations(versions.map((_, place) => place))) {
    const id = order.join('');
    for (const place of [...order, ...order]) {
      const written = change({ id, rule, value: String(place), version: versions[place]! });
      await views.apply(STREAM, EPOCH, [written]);
    }
    const field = (await views.document(STREAM, 'events', id))?.fields.get('body');
    deepEqual(field, { value: String(winner), version: versions[winner] }, `order ${id}`);
  }
}

function permutations(items: readonly number[]): number[][] {
  if (items.length === 0) return [[]];
  return items.flatMap((item) => permutations(items.filter((other) => other !== item)).map((rest) => [item, ...rest]));
}
