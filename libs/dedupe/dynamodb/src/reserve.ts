import { PutItemCommand } from '@aws-sdk/client-dynamodb';
import type { Claim, StoredId } from '@tidemark/libs-dedupe-contract';
import { type Clock, type Fault, type Random, asFault } from '@tidemark/libs-kernel';
import { claimItem, secondsDown, statusOf } from './item.ts';
import { gravestOf } from './map-error.ts';
import { type Held, type ReleaseParts, releaseAll } from './release.ts';
import type { ReserveBreaker } from './reserve-breaker.ts';
import type { Slots } from './slots.ts';

export interface ReserveParts extends ReleaseParts {
  readonly breaker: ReserveBreaker;
  /** For the puts of all reserves. */
  readonly putSlots: Slots;
  readonly clock: Clock;
  readonly random: Random;
}

/** A put that was sent: what it was answered, or why it was not. */
type Sent =
  | { readonly kind: 'answered'; readonly held: Held; readonly claim: Claim }
  | { readonly kind: 'failed'; readonly held: Held; readonly fault: Fault };

const TOKEN_BYTES = 16;

/**
 * One conditional put for each id, side by side. The first that fails keeps those that wait from being sent; those on their way run to
 * their answers, and only then is every put released that got its claim, or may have: by its token, so that nobody else's is touched.
 * What this cannot undo stays in flight until its lease ends.
 */
export async function reserveDistinct(
  parts: ReserveParts,
  ids: readonly StoredId[],
  leaseMs: number,
): Promise<readonly Claim[]> {
  const { breaker } = parts;
  breaker.assertClosed();
  const sent = await putAll(parts, ids, leaseMs);
  const fault = gravestOf(sent.flatMap((one) => (one.kind === 'failed' ? [one.fault] : [])));
  const claims = sent.flatMap((one) => (one.kind === 'answered' ? [one.claim] : []));
  if (fault) breaker.failed(fault);
  else if (sent.length > 0) breaker.answered();
  if (claims.length === ids.length) return claims;
  await releaseAll(
    parts,
    sent.filter(holdsPerhaps).map(({ held }) => held),
  ).catch(() => {});
  if (fault) throw fault;
  // It opened while these waited.
  throw breaker.refusal();
}

/** In the order of the ids; those that were not sent are left out. */
async function putAll(parts: ReserveParts, ids: readonly StoredId[], leaseMs: number): Promise<Sent[]> {
  let isOver = false;
  const put = async (id: StoredId): Promise<Sent | null> => {
    if (isOver || parts.breaker.isOpen) return null;
    const one = await putOne(parts, id, leaseMs);
    isOver ||= one.kind === 'failed';
    return one;
  };
  const all = await Promise.all(ids.map((id) => parts.putSlots.run(() => put(id))));
  return all.filter((one) => one !== null);
}

async function putOne(
  { calls, clock, random }: ReserveParts,
  { key, stored }: StoredId,
  leaseMs: number,
): Promise<Sent> {
  const token = Buffer.from(random.bytes(TOKEN_BYTES)).toString('hex');
  const nowMs = clock.now();
  const command = new PutItemCommand({
    TableName: calls.table,
    Item: claimItem(stored, token, nowMs + leaseMs),
    ConditionExpression: 'attribute_not_exists(pk) OR ex <= :now',
    ExpressionAttributeValues: { ':now': { N: `${secondsDown(nowMs)}` } },
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  });
  const held = { stored, token };
  try {
    const answer = await calls.send('put_item', command, 'not-done');
    const status = answer.kind === 'done' ? 'claimed' : statusOf(answer.held, token);
    return { kind: 'answered', held, claim: status === 'claimed' ? { status, key, token } : { status, key } };
  } catch (thrown) {
    return { kind: 'failed', held, fault: asFault(thrown) };
  }
}

function holdsPerhaps(one: Sent): boolean {
  return one.kind === 'failed' || one.claim.status === 'claimed';
}
