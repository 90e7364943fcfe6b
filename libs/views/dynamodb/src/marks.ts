import {
  FIRST_EPOCH,
  type Revisions,
  type StoredMark,
  type StreamMark,
  type WatermarkState,
} from '@tidemark/libs-views-contract';
import {
  type Item,
  MARK,
  REGISTRY,
  assertStorableStream,
  isStream,
  keyOf,
  streamKey,
  streamKeys,
  streamOf,
} from './keys.ts';
import { type MarkItem, type StoredMap, holds, markMap, markOf } from './mark-item.ts';
import type { ViewsTable } from './views-table.ts';

export async function readMark(table: ViewsTable, stream: string, role: 'shown' | 'build'): Promise<StoredMark | null> {
  return isStream(stream) ? markOf(stream, await table.get(stream, MARK), role) : null;
}

/**
 * One conditional write; of a build two, since the first asks for what is shown. A repeat that finds the very mark it wrote, its answer
 * having been lost, is `saved`; so two workers that save the very same may both be.
 */
export async function saveMark(
  table: ViewsTable,
  stream: string,
  epoch: number,
  watermark: WatermarkState,
  expectedVersion: number,
  revisions: Revisions,
): Promise<'saved' | 'conflict'> {
  assertStorableStream(stream);
  const map = markMap(watermark, epoch, expectedVersion + 1, revisions);
  if (expectedVersion === 0) return epoch === FIRST_EPOCH ? saveFirst(table, stream, map) : 'conflict';
  const shown = await replace(table, stream, 'shown', epoch, expectedVersion, map);
  if (shown === 'saved') return 'saved';
  const isBuild = Number(shown?.['build']?.M?.['epoch']?.N) === epoch;
  return isBuild && (await replace(table, stream, 'build', epoch, expectedVersion, map)) === 'saved'
    ? 'saved'
    : 'conflict';
}

async function saveFirst(table: ViewsTable, stream: string, map: StoredMap): Promise<'saved' | 'conflict'> {
  await register(table, stream);
  const updated = await table.write(stream, MARK, {
    set: 'SET #shown = :mark, shown_epoch = :epoch, last_epoch = if_not_exists(last_epoch, :epoch)',
    condition: 'attribute_not_exists(#shown)',
    names: { '#shown': 'shown' },
    values: { ':mark': { M: map }, ':epoch': { N: String(FIRST_EPOCH) } },
  });
  return updated.kind === 'written' || holds(updated.item, 'shown', map) ? 'saved' : 'conflict';
}

/** What was found where the mark is another one. */
async function replace(
  table: ViewsTable,
  stream: string,
  role: 'shown' | 'build',
  epoch: number,
  expectedVersion: number,
  map: StoredMap,
): Promise<'saved' | MarkItem | undefined> {
  const updated = await table.write(stream, MARK, {
    set: 'SET #role = :mark',
    condition: '#role.#epoch = :epoch AND #role.#version = :expected',
    names: { '#role': role, '#epoch': 'epoch', '#version': 'version' },
    values: { ':mark': { M: map }, ':epoch': { N: String(epoch) }, ':expected': { N: String(expectedVersion) } },
  });
  return updated.kind === 'written' || holds(updated.item, role, map) ? 'saved' : updated.item;
}

/** Before a stream's first mark, so that no mark is missing from the list; a name without a mark is passed over there. */
export async function register(table: ViewsTable, stream: string): Promise<void> {
  await table.write(REGISTRY, streamKey(stream), {
    set: 'SET #known = :yes',
    names: { '#known': 'known' },
    values: { ':yes': { BOOL: true } },
  });
}

/** From the registry, in its order: no Scan. A page costs a Query, and a strong read for each stream. */
export async function listMarks(
  table: ViewsTable,
  after: string | null,
  limit: number,
): Promise<readonly StreamMark[]> {
  const marks: StreamMark[] = [];
  let from: Item | undefined;
  do {
    const page = await table.query(REGISTRY, streamKeys(after), limit, from);
    marks.push(
      ...(await marksOf(
        table,
        page.items.map(({ sk }) => streamOf(sk!.S!)),
      )),
    );
    from = page.next;
  } while (from !== undefined && marks.length < limit + 1);
  // `after` itself begins the range.
  return marks.filter(({ stream }) => stream !== after).slice(0, limit);
}

async function marksOf(table: ViewsTable, streams: readonly string[]): Promise<StreamMark[]> {
  const items = await table.getAll(streams.map((stream) => keyOf(stream, MARK)));
  const byStream = new Map(items.map((item) => [item['stream_id']!.S!, item]));
  return streams.flatMap((stream) => {
    const mark = markOf(stream, byStream.get(stream), 'shown');
    return mark ? [{ stream, mark }] : [];
  });
}
