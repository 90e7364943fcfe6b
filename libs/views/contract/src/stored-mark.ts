import { Fault } from '@tidemark/libs-kernel';
import type { ParkedOp, Revisions, StoredMark, StreamMark } from './views.ts';
import type { Hole, SeqRange, WatermarkState } from './watermark-state.ts';

/** As the driver of a store gives it. */
type Int = bigint | string;

/** A mark as every store keeps it: its lists are JSON texts. */
export interface MarkRow {
  readonly stream: string;
  readonly epoch: Int;
  readonly version: Int;
  readonly folded_through: Int;
  readonly floor: Int;
  readonly ahead: string;
  readonly holes: string;
  readonly skipped: string;
  readonly revisions: string;
}

export interface ParkedRow {
  readonly seq: Int;
  readonly op: string;
}

/** folded_through, floor, ahead, holes, skipped, revisions. */
export type MarkCells = readonly [bigint, bigint, string, string, string, string];

/** Seqs as decimal texts, because a JSON number of another reader's would round them. */
export function markCells({ foldedThrough, floor, ...ranges }: WatermarkState, revisions: Revisions): MarkCells {
  const [ahead, holes, skipped] = [ranges.ahead.map(pair), ranges.holes.map(triple), ranges.skipped.map(pair)];
  const sorted = [...revisions].sort(([a], [b]) => (a < b ? -1 : 1));
  return [foldedThrough, floor, ...([ahead, holes, skipped, sorted].map((one) => JSON.stringify(one)) as Texts)];
}

type Texts = [string, string, string, string];

const pair = ({ from, to }: SeqRange) => [String(from), String(to)];
const triple = ({ from, to, firstSeenMs }: Hole) => [String(from), String(to), firstSeenMs];

export function toMark(row: MarkRow): StoredMark {
  try {
    return {
      watermark: {
        foldedThrough: BigInt(row.folded_through),
        ahead: list(row.ahead).map(toRange),
        holes: list(row.holes).map((cells) => ({ ...toRange(cells), firstSeenMs: Number(cells[2]) })),
        skipped: list(row.skipped).map(toRange),
        floor: BigInt(row.floor),
      },
      epoch: Number(row.epoch),
      version: Number(row.version),
      revisions: new Map(list(row.revisions).map(([domain, revision]) => [String(domain), Number(revision)])),
    };
  } catch (cause) {
    throw new Fault('corrupt', `the stored mark of stream ${JSON.stringify(row.stream)} cannot be read`, { cause });
  }
}

export function toStreamMark(row: MarkRow): StreamMark {
  return { stream: row.stream, mark: toMark(row) };
}

type Cells = readonly (string | number)[];

function list(text: string): readonly Cells[] {
  return JSON.parse(text) as Cells[];
}

function toRange([from, to]: Cells): SeqRange {
  return { from: BigInt(from!), to: BigInt(to!) };
}

/** As JSON, which holds any op id and any reason, also where a text column cannot. */
export function parkedText({ opId, reason, parkedAtMs, attempts }: ParkedOp): string {
  return JSON.stringify({ op_id: opId, reason, parked_at_ms: parkedAtMs, attempts });
}

export function toParked({ seq, op }: ParkedRow): ParkedOp {
  try {
    const { op_id: opId, reason, parked_at_ms: parkedAtMs, attempts } = JSON.parse(op) as ParkedJson;
    return { seq: BigInt(seq), opId, reason, parkedAtMs, attempts };
  } catch (cause) {
    throw new Fault('corrupt', `the parked op ${seq} cannot be read`, { cause });
  }
}

interface ParkedJson {
  readonly op_id: string | null;
  readonly reason: string;
  readonly parked_at_ms: number;
  readonly attempts: number;
}
