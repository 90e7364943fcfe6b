import { inParallel } from '@tidemark/libs-driver-dynamodb';
import { Fault } from '@tidemark/libs-kernel';
import { FIRST_EPOCH, NOTHING_FOLDED, type Revisions, type StoredMark } from '@tidemark/libs-views-contract';
import { MARK, type SortKeys, assertStorableStream, epochKeys, isStream, parkedKeys } from './keys.ts';
import { type MarkItem, epochOf, lastEpoch, markMap } from './mark-item.ts';
import { register } from './marks.ts';
import type { ViewsTable } from './views-table.ts';

/** Each round that is lost means that another worker began or ended an epoch of the stream. */
const ROUNDS_MAX = 20;

export async function startBuild(
  table: ViewsTable,
  stream: string,
  revisions: Revisions,
): Promise<StoredMark | 'conflict'> {
  assertStorableStream(stream);
  await register(table, stream);
  let item = await table.get(stream, MARK);
  for (let rounds = 0; rounds < ROUNDS_MAX; rounds++) {
    if (epochOf(item, 'build') !== null) return 'conflict';
    const last = lastEpoch(item);
    const epoch = Math.max(last, FIRST_EPOCH) + 1;
    const isLast = last === 0 ? 'attribute_not_exists(last_epoch)' : 'last_epoch = :last';
    const updated = await table.write(stream, MARK, {
      set: 'SET #build = :mark, last_epoch = :epoch',
      condition: `attribute_not_exists(#build) AND ${isLast}`,
      names: { '#build': 'build' },
      values: {
        ':mark': { M: markMap(NOTHING_FOLDED, epoch, 1, revisions) },
        ':epoch': { N: String(epoch) },
        ...(last === 0 ? {} : { ':last': { N: String(last) } }),
      },
    });
    if (updated.kind === 'written') return { watermark: NOTHING_FOLDED, epoch, version: 1, revisions };
    item = updated.item;
  }
  throw new Fault('unavailable', `the epochs of stream ${JSON.stringify(stream)} are changed by others all the time`);
}

export async function switchTo(table: ViewsTable, stream: string, epoch: number): Promise<'switched' | 'conflict'> {
  if (!isStream(stream)) return 'conflict';
  const updated = await table.write(stream, MARK, {
    set: 'SET #shown = #build, shown_epoch = :epoch REMOVE #build',
    condition: '#build.#epoch = :epoch AND (attribute_not_exists(#shown) OR #shown.#folded <= #build.#folded)',
    names: { '#shown': 'shown', '#build': 'build', '#epoch': 'epoch', '#folded': 'folded_through' },
    values: { ':epoch': { N: String(epoch) } },
  });
  return updated.kind === 'written' || epochOf(updated.item, 'shown') === epoch ? 'switched' : 'conflict';
}

export async function abandonBuild(table: ViewsTable, stream: string, epoch: number): Promise<void> {
  if (!isStream(stream)) return;
  await table.write(stream, MARK, {
    set: 'REMOVE #build',
    condition: '#build.#epoch = :epoch',
    names: { '#build': 'build', '#epoch': 'epoch' },
    values: { ':epoch': { N: String(epoch) } },
  });
}

/**
 * Items one by one, a document with all its cells each. An epoch up to the highest that is neither shown nor built is left for ever, so
 * what begins meanwhile is not touched.
 */
export async function dropEpochs(table: ViewsTable, stream: string, limit: number, callsMax: number): Promise<number> {
  if (!isStream(stream)) return 0;
  const item = await table.get(stream, MARK);
  let dropped = 0;
  for (const [first, last] of leftEpochs(item)) {
    for (const range of [epochKeys(first, last), parkedKeys(first, last)])
      dropped += await drop(table, stream, range, limit - dropped, callsMax);
    if (dropped >= limit) break;
  }
  return dropped;
}

async function drop(
  table: ViewsTable,
  stream: string,
  range: SortKeys,
  limit: number,
  callsMax: number,
): Promise<number> {
  if (limit <= 0) return 0;
  const { items } = await table.query(stream, range, limit, undefined, 'sk');
  await inParallel(items, callsMax, ({ sk }) => table.delete(stream, sk!.S!));
  return items.length;
}

/** Below, between and above what serves somebody. While nothing is shown the first epoch may still be. */
function leftEpochs(item: MarkItem | undefined): (readonly [first: number, last: number])[] {
  const shown = epochOf(item, 'shown');
  if (shown === null) return [];
  const used = [shown, epochOf(item, 'build') ?? shown, lastEpoch(item) + 1].sort((a, b) => a - b);
  const ranges = used.map((next, at) => [(used[at - 1] ?? 0) + 1, next - 1] as const);
  return ranges.filter(([first, last]) => first <= last);
}
