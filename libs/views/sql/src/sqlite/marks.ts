import { Fault } from '@tidemark/libs-kernel';
import type { Hole, SeqRange, StoredMark, WatermarkState } from '@tidemark/libs-views-contract';
import type { Handle } from './open-file.ts';

export interface Marks {
  read(stream: string): StoredMark | null;
  save(stream: string, epoch: number, watermark: WatermarkState, expectedVersion: number): 'saved' | 'conflict';
}

interface Row {
  readonly epoch: bigint;
  readonly version: bigint;
  readonly folded_through: bigint;
  readonly floor: bigint;
  readonly ahead: string;
  readonly holes: string;
}

const READ = 'SELECT epoch, version, folded_through, floor, ahead, holes FROM marks WHERE stream = ?';

const INSERT = `
  INSERT INTO marks (epoch, folded_through, floor, ahead, holes, stream, version) VALUES (?, ?, ?, ?, ?, ?, 1)
  ON CONFLICT (stream) DO NOTHING`;

const REPLACE = `
  UPDATE marks SET epoch = ?, folded_through = ?, floor = ?, ahead = ?, holes = ?, version = version + 1
  WHERE stream = ? AND version = ?`;

/** Each save is one statement, so the comparison and the write cannot be parted. */
export function prepareMarks(handle: Handle): Marks {
  const read = handle.prepare<[string], Row>(READ).safeIntegers();
  const insert = handle.prepare(INSERT);
  const replace = handle.prepare(REPLACE);
  return {
    read(stream) {
      const row = read.get(stream);
      return row ? toMark(stream, row) : null;
    },
    save(stream, epoch, { foldedThrough, floor, ahead, holes }, expectedVersion) {
      const cells = [epoch, foldedThrough, floor, rangesText(ahead), holesText(holes), stream];
      const { changes } = expectedVersion === 0 ? insert.run(...cells) : replace.run(...cells, expectedVersion);
      return changes === 1 ? 'saved' : 'conflict';
    },
  };
}

function toMark(stream: string, row: Row): StoredMark {
  const watermark = {
    foldedThrough: row.folded_through,
    ahead: read(stream, row.ahead, ([from, to]): SeqRange => ({ from: BigInt(from!), to: BigInt(to!) })),
    holes: read(stream, row.holes, ([from, to, firstSeenMs]): Hole => {
      return { from: BigInt(from!), to: BigInt(to!), firstSeenMs: Number(firstSeenMs) };
    }),
    floor: row.floor,
  };
  return { watermark, epoch: Number(row.epoch), version: Number(row.version) };
}

/** Seqs as decimal texts, because a JSON number of another reader's would round them. */
function rangesText(ranges: readonly SeqRange[]): string {
  return JSON.stringify(ranges.map(({ from, to }) => [String(from), String(to)]));
}

function holesText(holes: readonly Hole[]): string {
  return JSON.stringify(holes.map(({ from, to, firstSeenMs }) => [String(from), String(to), firstSeenMs]));
}

function read<T>(stream: string, text: string, toItem: (cells: readonly (string | number)[]) => T): readonly T[] {
  try {
    return (JSON.parse(text) as (string | number)[][]).map(toItem);
  } catch (cause) {
    throw new Fault('corrupt', `the stored mark of stream ${JSON.stringify(stream)} cannot be read`, { cause });
  }
}
