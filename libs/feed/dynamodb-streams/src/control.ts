import { Fault } from '@tidemark/libs-kernel';
import { CONTROL_KEY, freshRow, type LeaseRow, segmentKey, segmentOf } from './lease-row.ts';

/** What the workers of a fold agree on, as the checkpoint of the row `control`. */
export interface Control {
  /** The table whose stream the fold follows: a fold of this name and another table is refused (F22). */
  readonly opsTable: string;
  /** The stream that is followed, by its label; a stream that is switched off and on again gets another. Empty: none yet. */
  readonly label: string;
  /** Number of the census that is wanted; 0: none was yet. */
  readonly census: number;
  /** In how many segments. */
  readonly segments: number;
  /** When the shards were listed and had their rows, some minutes more or less, by the wall clock of who did it. */
  readonly listedAtMs: number;
  /** When it was wanted, by the wall clock of who asked for it. */
  readonly atMs: number;
  readonly reason: string;
}

export function controlOf(row: LeaseRow | undefined): Control | null {
  return row === undefined ? null : (parsed(row) as Control);
}

/** F22: what tells two folds apart is their names. */
export function otherTable(name: string, followed: string, asked: string): string {
  return `the fold "${name}" follows the table "${followed}", not "${asked}": give this one another name`;
}

export function controlRow(seen: LeaseRow | undefined, control: Control): LeaseRow {
  const checkpoint = JSON.stringify(control);
  return seen === undefined ? freshRow(CONTROL_KEY, checkpoint) : { ...seen, counter: seen.counter + 1, checkpoint };
}

/** Where a census stands in one segment, as the checkpoint of its row. */
export interface SegmentState {
  readonly census: number;
  readonly segments: number;
  /** Key that the scan goes on behind; null: from the start; 'end': all of it is named. */
  readonly after: ScanKey | null | 'end';
}

/** Stream and seq. */
export type ScanKey = readonly [stream: string, seq: string];

export const segmentText = (state: SegmentState): string => JSON.stringify(state);

export const segmentState = (row: LeaseRow): SegmentState => parsed(row) as SegmentState;

/** A segment that is to be read, and the state that its next owner begins with. */
export interface DueSegment {
  readonly key: string;
  readonly row: LeaseRow | null;
  readonly state: SegmentState;
}

/** The segments of the wanted census that are not at their end. A census that has begun is finished before a later one begins. */
export function dueSegments({ census, segments }: Control, rows: ReadonlyMap<string, LeaseRow>): DueSegment[] {
  return Array.from({ length: census === 0 ? 0 : segments }, (_, i) => segmentKey(i)).flatMap((key) => {
    const row = rows.get(key) ?? null;
    const state = row === null ? null : segmentState(row);
    if (state !== null && state.census === census && state.after === 'end') return [];
    const goesOn = state !== null && state.after !== 'end' && state.segments === segments;
    return [{ key, row, state: goesOn ? state : { census, segments, after: null } }];
  });
}

/** Whether some segment of the wanted census is being read or was: it may have passed a stream by now. */
export function hasBegun({ census }: Control, rows: ReadonlyMap<string, LeaseRow>): boolean {
  return [...rows.values()].some((row) => segmentOf(row.key) !== null && segmentState(row).census >= census);
}

/** Rows of segments that the wanted census does not have. */
export function staleSegments({ segments }: Control, rows: ReadonlyMap<string, LeaseRow>): LeaseRow[] {
  return [...rows.values()].filter((row) => (segmentOf(row.key) ?? -1) >= segments);
}

function parsed({ key, checkpoint }: LeaseRow): unknown {
  try {
    return JSON.parse(checkpoint);
  } catch (cause) {
    throw new Fault('corrupt', `the leases table: the checkpoint of ${key} cannot be read`, { cause });
  }
}
