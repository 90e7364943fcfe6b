import type { Hole } from '@tidemark/libs-views-contract';

/** Holes in the order of their seqs; those that touch and were first seen at one time are one. */
export function fused(holes: readonly Hole[]): Hole[] {
  const whole: { from: bigint; to: bigint; firstSeenMs: number }[] = [];
  for (const { from, to, firstSeenMs } of holes.toSorted((a, b) => (a.from < b.from ? -1 : 1))) {
    const last = whole.at(-1);
    if (last?.to === from - 1n && last.firstSeenMs === firstSeenMs) last.to = to;
    else whole.push({ from, to, firstSeenMs });
  }
  return whole;
}

/** Every seq that is in a hole on either side, with the elder of its sights. Both sides are sorted, and their holes do not meet. */
export function elder(a: readonly Hole[], b: readonly Hole[]): Hole[] {
  const edges = [...new Set([...a, ...b].flatMap(({ from, to }) => [from, to + 1n]))].sort((x, y) => (x < y ? -1 : 1));
  const [ofA, ofB] = [sightsOf(a), sightsOf(b)];
  const pieces: Hole[] = [];
  for (let i = 1; i < edges.length; i++) {
    const [from, next] = [edges[i - 1]!, edges[i]!];
    const firstSeenMs = Math.min(ofA(from), ofB(from));
    if (firstSeenMs < Infinity) pieces.push({ from, to: next - 1n, firstSeenMs });
  }
  return fused(pieces);
}

/** When a seq was first missed; asked in ascending order. Infinity: it is in no hole. */
function sightsOf(holes: readonly Hole[]): (seq: bigint) => number {
  let at = 0;
  return (seq) => {
    while (at < holes.length && holes[at]!.to < seq) at++;
    const hole = holes[at];
    return hole && hole.from <= seq ? hole.firstSeenMs : Infinity;
  };
}
