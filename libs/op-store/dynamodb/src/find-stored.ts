import { inParallel, type SendOptions } from '@tidemark/libs-driver-dynamodb';
import { backoffMs, Fault, type Random, type Sleeper } from '@tidemark/libs-kernel';
import type { WaitingOp } from './append-round.ts';
import { type Claim, type Item, toClaim, toSeq } from './op-item.ts';
import type { OpsTable } from './ops-table.ts';

export interface FindParts {
  readonly table: OpsTable;
  readonly sleeper: Sleeper;
  readonly random: Random;
}

/** An op to look for, with its claim where it is known already. */
export interface Sought {
  readonly waiting: WaitingOp;
  readonly item?: Item | undefined;
}

export type Finding =
  /** The op is stored at `seq`, where a Query shows it. */
  | { readonly kind: 'stored'; readonly seq: bigint }
  /** The key of its claim belongs to that op. */
  | { readonly kind: 'foreign'; readonly opId: string }
  /** Another op, of that id if any, stands where its claim says it is: a restored table lost the op, and its seq was given again. */
  | { readonly kind: 'dead'; readonly seq: bigint; readonly opId: string | null }
  | { readonly kind: 'free' };

const CALLS_MAX = 16;
/**
 * About a second in sum. A transaction that is being committed shows its last item within milliseconds of its first; of an op that does not
 * show up so long nobody can say more, and others of its stream wait behind it.
 */
const LOOKS_MAX = 20;
const LOOK_BACKOFF = { baseMs: 5, ceilingMs: 100 };

/**
 * Which of the ops the stream holds already by what their claims say, in their order: each claim is read strongly, unless a cancelled round
 * brought it along, which is as good. A claim alone may stand beside an op that no reader sees yet: see untilShown.
 */
export function findClaims(
  { table }: FindParts,
  stream: string,
  sought: readonly Sought[],
  options: SendOptions,
): Promise<Finding[]> {
  return inParallel(sought, CALLS_MAX, async ({ waiting, item }) => {
    const claim = item === undefined ? await table.claim(stream, waiting.claimSeq, options) : toClaim(item);
    return findingOf(waiting, claim);
  });
}

function findingOf({ op }: WaitingOp, claim: Claim | null): Finding {
  if (claim === null) return { kind: 'free' };
  return claim.opId === op.opId ? { kind: 'stored', seq: claim.opSeq } : { kind: 'foreign', opId: claim.opId };
}

/**
 * Waits until a Query shows each op that is `stored` by its claim, and it alone. No writer gives a seq twice, so another op at its place
 * proves that this one does not come there any more: it becomes `dead`. One that is erased meanwhile takes its claim along, and becomes
 * `free`.
 */
export async function untilShown(
  parts: FindParts,
  stream: string,
  sought: readonly Sought[],
  found: Finding[],
  options: SendOptions,
): Promise<void> {
  let hidden = found.flatMap((finding, at) => (finding.kind === 'stored' ? [{ at, seq: finding.seq }] : []));
  for (let looks = 0; hidden.length > 0; looks++) {
    if (looks > 0) await rest(parts, stream, hidden[0]?.seq as bigint, looks, options);
    // After the wait, and before the look: an op that was moved by an erasure and a repeat is looked for where it is.
    if (looks > 0) hidden = await again(parts, stream, sought, found, hidden, options);
    const shown = await shownOf(
      parts.table,
      stream,
      hidden.map(({ seq }) => seq),
      options,
    );
    for (const { at, seq } of hidden) {
      const opId = shown.get(seq);
      if (opId !== undefined && opId !== sought[at]?.waiting.op.opId) found[at] = { kind: 'dead', seq, opId };
    }
    hidden = hidden.filter(({ seq }) => !shown.has(seq));
  }
}

interface Hidden {
  readonly at: number;
  readonly seq: bigint;
}

async function again(
  { table }: FindParts,
  stream: string,
  sought: readonly Sought[],
  found: Finding[],
  hidden: readonly Hidden[],
  options: SendOptions,
): Promise<Hidden[]> {
  const still = await inParallel(hidden, CALLS_MAX, async ({ at }): Promise<Hidden[]> => {
    const { waiting } = sought[at] as Sought;
    const finding = findingOf(waiting, await table.claim(stream, waiting.claimSeq, options));
    found[at] = finding;
    return finding.kind === 'stored' ? [{ at, seq: finding.seq }] : [];
  });
  return still.flat();
}

async function rest(
  { sleeper, random }: FindParts,
  stream: string,
  seq: bigint,
  looks: number,
  { abortSignal }: SendOptions,
): Promise<void> {
  if (looks > LOOKS_MAX) {
    const what = `stream ${JSON.stringify(stream)}, seq ${seq}: a claim names it, and no op was shown there`;
    throw new Fault('unavailable', `${what} in ${LOOKS_MAX} looks`, { retryAfterMs: 1000 });
  }
  await sleeper.sleep(backoffMs(looks, LOOK_BACKOFF, random), abortSignal);
}

/** Seqs so close together are read in one Query, with what stands between them: a repeated push was mostly stored in one run. */
const NEAR = 8n;

/** The op ids that stand there, by seq. */
async function shownOf(
  table: OpsTable,
  stream: string,
  seqs: readonly bigint[],
  options: SendOptions,
): Promise<ReadonlyMap<bigint, string | null>> {
  const shown = new Map<bigint, string | null>();
  await inParallel(runsOf(seqs), CALLS_MAX, async ({ from, to }) => {
    for (let at = from; at <= to;) {
      const { items, isLast } = await table.keysBetween(stream, at, to, ['op_id'], options);
      for (const item of items) shown.set(toSeq(item), item['op_id']?.S ?? null);
      const last = items.at(-1);
      if (isLast || last === undefined) return;
      at = toSeq(last) + 1n;
    }
  });
  return shown;
}

interface Run {
  readonly from: bigint;
  readonly to: bigint;
}

function runsOf(seqs: readonly bigint[]): Run[] {
  const runs: Run[] = [];
  for (const seq of seqs.toSorted((a, b) => (a < b ? -1 : 1))) {
    const last = runs.at(-1);
    if (last !== undefined && seq - last.to <= NEAR) runs[runs.length - 1] = { from: last.from, to: seq };
    else runs.push({ from: seq, to: seq });
  }
  return runs;
}
