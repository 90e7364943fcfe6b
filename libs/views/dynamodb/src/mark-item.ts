import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { type Revisions, type StoredMark, type WatermarkState, markCells, toMark } from '@tidemark/libs-views-contract';
import type { Item } from './keys.ts';

/**
 * The item `.mark` of a stream: `shown` and `build` are maps, one mark each; `shown_epoch` stands beside them for readers of documents, and
 * `last_epoch` is the highest that was ever used. One item, so that every change of them is one conditional write.
 */
export type MarkItem = Item;

/** A mark as a map. */
export type StoredMap = Readonly<Record<string, AttributeValue>>;

export function markMap(watermark: WatermarkState, epoch: number, version: number, revisions: Revisions): StoredMap {
  const [foldedThrough, floor, ahead, holes, skipped, revisionsText] = markCells(watermark, revisions);
  return {
    epoch: { N: String(epoch) },
    version: { N: String(version) },
    folded_through: { N: String(foldedThrough) },
    floor: { N: String(floor) },
    ahead: { S: ahead },
    holes: { S: holes },
    skipped: { S: skipped },
    revisions: { S: revisionsText },
  };
}

export function markOf(stream: string, item: MarkItem | undefined, role: 'shown' | 'build'): StoredMark | null {
  const map = item?.[role]?.M;
  if (map === undefined) return null;
  const cell = (name: string) => map[name]?.N ?? map[name]?.S ?? '?';
  return toMark({
    stream,
    epoch: cell('epoch'),
    version: cell('version'),
    folded_through: cell('folded_through'),
    floor: cell('floor'),
    ahead: cell('ahead'),
    holes: cell('holes'),
    skipped: cell('skipped'),
    revisions: cell('revisions'),
  });
}

export function epochOf(item: MarkItem | undefined, role: 'shown' | 'build'): number | null {
  const epoch = item?.[role]?.M?.['epoch']?.N;
  return epoch === undefined ? null : Number(epoch);
}

/** The highest that was ever used; 0: none. */
export function lastEpoch(item: MarkItem | undefined): number {
  return Number(item?.['last_epoch']?.N ?? 0);
}

/** Whether the very mark is stored: then a write whose answer was lost was this one. */
export function holds(item: MarkItem | undefined, role: 'shown' | 'build', map: StoredMap): boolean {
  const stored = item?.[role]?.M;
  return Object.entries(map).every(([name, { N, S }]) => stored?.[name]?.N === N && stored?.[name]?.S === S);
}
