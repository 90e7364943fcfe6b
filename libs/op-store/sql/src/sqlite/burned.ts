import type { Handle } from './open-file.ts';

/** See OpStore.burnedThrough and seqOf. */
export interface Places {
  burnedThrough(stream: string, after: bigint): bigint;
  seqOf(stream: string, opId: string): bigint | null;
}

/** Seqs are given where they are stored, by one writer at a time: what a state of the file does not hold below its head is never written. */
export function preparePlaces(handle: Handle, head: (stream: string) => bigint): Places {
  const above = handle.prepare<[string, bigint], bigint | null>(
    'SELECT min(seq) FROM stream_ops WHERE stream_id = ? AND seq > ?',
  );
  const place = handle.prepare<[string, string], bigint>(
    'SELECT seq FROM stream_ops WHERE stream_id = ? AND op_id = ?',
  );
  above.pluck().safeIntegers();
  place.pluck().safeIntegers();
  const isNow = handle.transaction((stream: string, from: bigint) => {
    const next = above.get(stream, from) ?? null;
    return next === null ? head(stream) : next - 1n;
  });
  return {
    burnedThrough(stream, after) {
      const from = after > 0n ? after : 0n;
      const through = isNow(stream, from);
      return through > from ? through : after;
    },
    seqOf: (stream, opId) => place.get(stream, opId) ?? null,
  };
}
