import type { TransactWriteItem } from '@aws-sdk/client-dynamodb';
import { I64_MAX, type Op } from '@tidemark/libs-wire';
import { COUNTER_SEQ, type Item, itemKey, opItem } from './op-item.ts';
import { ITEM_BYTES_MAX } from './item-size.ts';

/** DynamoDB's bounds of a transaction. */
const ACTIONS_MAX = 100;
const TRANSACTION_BYTES_MAX = 4 * 1024 * 1024;

/** The counter, the check, and a claim and an op of each: all that fits into ACTIONS_MAX. */
export const ROUND_OPS_MAX = 49;

/** More than any counter takes, whatever others keep in it. */
const COUNTER_BYTES = 4096;

export interface WaitingOp {
  readonly op: Op;
  readonly claimSeq: bigint;
  /** Of its item and its claim's. */
  readonly bytes: number;
  /** False: the key of its claim belongs to another op id, so it is stored without one. */
  readonly isClaimed: boolean;
}

/** From where a round is planned. */
export interface Position {
  /** What the counter is believed to be; 0 is also "there is none". */
  readonly counter: bigint;
  /** The seq before the round's first: the counter, or a higher one that is occupied. */
  readonly base: bigint;
  /** The seq of which it is proved that no op is there nor comes, if any. */
  readonly flip: bigint | null;
}

/** What one transaction does. */
export interface Round<W extends WaitingOp = WaitingOp> {
  readonly counter: bigint;
  readonly base: bigint;
  /** What is demanded of the op at `base`; none at 0 alone. */
  readonly check: 'present' | 'absent' | null;
  /** Stored at base + 1, base + 2... */
  readonly ops: readonly W[];
}

/**
 * The next round: as many of the first waiting ops as one transaction takes, in their order. It ends before an op whose id, or whose
 * claim's key, is in it already, since a transaction may touch an item once. Empty only when no op waits, or no seq is left.
 */
export function planRound<W extends WaitingOp>(
  waiting: readonly W[],
  { counter, base, flip }: Position,
  opsMax: number,
): Round<W> {
  const check = base === 0n ? null : flip === base ? 'absent' : 'present';
  const ops: W[] = [];
  const claims = new Set<bigint>();
  const ids = new Set<string>();
  let actions = check === null ? 1 : 2;
  let bytes = check === null ? COUNTER_BYTES : COUNTER_BYTES + ITEM_BYTES_MAX;
  for (const one of waiting) {
    actions += one.isClaimed ? 2 : 1;
    bytes += one.bytes;
    const isFull =
      ops.length >= Math.min(opsMax, ROUND_OPS_MAX) || actions > ACTIONS_MAX || bytes > TRANSACTION_BYTES_MAX;
    if (isFull || base + BigInt(ops.length) >= I64_MAX) break;
    if (ids.has(one.op.opId) || (one.isClaimed && claims.has(one.claimSeq))) break;
    ids.add(one.op.opId);
    if (one.isClaimed) claims.add(one.claimSeq);
    ops.push(one);
  }
  return { counter, base, check, ops };
}

/** Where the parts of a round stand in its transaction, and so in the reasons of its cancellation. */
export interface Layout {
  readonly counter: number;
  /** Of each op; null for one without a claim. */
  readonly claims: readonly (number | null)[];
  readonly check: number | null;
  /** Of the first op; the others follow. */
  readonly ops: number;
  readonly length: number;
}

/** The counter, the claims, the check, the ops: with one op, the four items of the single-op protocol. */
export function layoutOf({ ops, check }: Pick<Round, 'ops' | 'check'>): Layout {
  let next = 1;
  const claims = ops.map(({ isClaimed }) => (isClaimed ? next++ : null));
  const checkAt = check === null ? null : next++;
  return { counter: 0, claims, check: checkAt, ops: next, length: next + ops.length };
}

const ABSENT = 'attribute_not_exists(stream_id)';
const PRESENT = 'attribute_exists(stream_id)';

/** The transaction. Whatever already holds one of its places cancels it, and the reasons bring what is there. */
export function transactItems(table: string, stream: string, round: Round): TransactWriteItem[] {
  const { counter, base, check, ops } = round;
  const put = (Item: Item, returned: object = {}): TransactWriteItem => ({
    Put: { TableName: table, Item, ConditionExpression: ABSENT, ...returned },
  });
  const seqOf = (i: number): bigint => base + BigInt(i) + 1n;
  const expected = 'next_seq = :expected';
  return [
    {
      Update: {
        TableName: table,
        Key: itemKey(stream, COUNTER_SEQ),
        UpdateExpression: 'SET next_seq = :seq',
        ConditionExpression: counter === 0n ? `attribute_not_exists(next_seq) OR ${expected}` : expected,
        ExpressionAttributeValues: {
          ':seq': { N: String(base + BigInt(ops.length)) },
          ':expected': { N: String(counter) },
        },
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      },
    },
    ...ops.flatMap(({ op, claimSeq, isClaimed }, i) => {
      if (!isClaimed) return [];
      const claim = { ...itemKey(stream, claimSeq), op_id: { S: op.opId }, op_seq: { N: String(seqOf(i)) } };
      return [put(claim, { ReturnValuesOnConditionCheckFailure: 'ALL_OLD' })];
    }),
    ...(check === null
      ? []
      : [
          {
            ConditionCheck: {
              TableName: table,
              Key: itemKey(stream, base),
              ConditionExpression: check === 'present' ? PRESENT : ABSENT,
            },
          },
        ]),
    ...ops.map(({ op }, i) => put(opItem(stream, seqOf(i), op))),
  ];
}
