import type { Claim, StoredId } from '@tidemark/libs-dedupe-contract';
import type { Clock } from '@tidemark/libs-kernel';
import { isLiveCommit } from './commit-value.ts';
import type { LevelFolder } from './level-folder.ts';
import type { PendingClaims, Verdicts } from './pending-claims.ts';
import type { StoredIds } from './stored-ids.ts';

interface ReserveParts {
  readonly level: LevelFolder;
  readonly stored: StoredIds;
  readonly pending: PendingClaims;
  readonly clock: Clock;
}

/** An id that this round has taken and must decide. */
interface Taken extends StoredId {
  readonly token: string;
}

/** An id that another reserve is deciding. */
interface Awaited extends StoredId {
  readonly verdicts: Verdicts;
}

/** By stored key. */
type Answers = Map<string, Claim>;

const NONE: ReadonlySet<string> = new Set();

/**
 * Atomic although LevelDB is read asynchronously: all free ids are taken in memory in one step, before the read, as undecided; the
 * read then turns each into a claim or gives it back as a duplicate. A reserve that meets an undecided id waits for its verdict.
 * No two reserves can wait for each other: a verdict waits for its own read only, never for another verdict.
 */
export async function reserveDistinct(
  parts: ReserveParts,
  ids: readonly StoredId[],
  leaseMs: number,
): Promise<readonly Claim[]> {
  const answers: Answers = new Map();
  try {
    // Another round means that the reserve waited for has failed or its claim has ended already: somebody always gets on.
    for (let open = ids; open.length > 0;) open = await reserveRound(parts, open, leaseMs, answers);
  } catch (fault) {
    for (const [stored, claim] of answers) if (claim.status === 'claimed') parts.pending.drop(stored, claim.token);
    throw fault;
  }
  return ids.map(({ stored }) => answers.get(stored)!);
}

/** Answers what it can; returns the ids that another reserve was deciding and did not find committed. */
async function reserveRound(
  parts: ReserveParts,
  open: readonly StoredId[],
  leaseMs: number,
  answers: Answers,
): Promise<readonly StoredId[]> {
  const round = Promise.withResolvers<ReadonlySet<string>>();
  const { taken, awaited } = takeFree(parts.pending, open, round.promise, answers);
  try {
    round.resolve(await decide(parts, taken, leaseMs, answers));
  } catch (fault) {
    for (const { stored, token } of taken) parts.pending.drop(stored, token);
    round.resolve(NONE);
    throw fault;
  }
  return stillOpen(awaited, answers);
}

/** One synchronous step: every id is in flight, being decided by another reserve, or taken by this one. */
function takeFree(
  pending: PendingClaims,
  open: readonly StoredId[],
  verdicts: Verdicts,
  answers: Answers,
): { taken: Taken[]; awaited: Awaited[] } {
  const taken: Taken[] = [];
  const awaited: Awaited[] = [];
  for (const id of open) {
    const found = pending.find(id.stored);
    if (found === undefined) taken.push({ ...id, token: pending.take(id.stored, verdicts) });
    else if (found.verdicts) awaited.push({ ...id, verdicts: found.verdicts });
    else answers.set(id.stored, { status: 'in_flight', key: id.key });
  }
  return { taken, awaited };
}

/** Reads at once what may be stored, of the taken ids; answers which are committed. */
async function decide(
  parts: ReserveParts,
  taken: readonly Taken[],
  leaseMs: number,
  answers: Answers,
): Promise<ReadonlySet<string>> {
  const { pending } = parts;
  const committed = await committedAmong(parts, taken);
  for (const { key, stored, token } of taken) {
    if (committed.has(stored)) {
      pending.drop(stored, token);
      answers.set(stored, { status: 'duplicate', key });
    } else {
      pending.settle(stored, leaseMs);
      answers.set(stored, { status: 'claimed', key, token });
    }
  }
  return committed;
}

async function committedAmong(
  { level, stored, clock }: ReserveParts,
  taken: readonly Taken[],
): Promise<ReadonlySet<string>> {
  const asked = taken.map((id) => id.stored).filter((id) => !stored.isAbsent(id));
  if (asked.length === 0) return NONE;
  const values = await level.getMany(asked);
  const nowMs = clock.now();
  return new Set(asked.filter((_, i) => isLiveCommit(values[i], nowMs)));
}

async function stillOpen(awaited: readonly Awaited[], answers: Answers): Promise<readonly StoredId[]> {
  const open: StoredId[] = [];
  for (const { key, stored, verdicts } of awaited) {
    if ((await verdicts).has(stored)) answers.set(stored, { status: 'duplicate', key });
    else open.push({ key, stored });
  }
  return open;
}
