import { anOp } from '@tidemark/libs-op-store-contract/testing';
import { claimSeq, I64_MAX } from '@tidemark/libs-wire';
import fc from 'fast-check';
import { layoutOf, planRound, type Position, type Round, transactItems, type WaitingOp } from './append-round.ts';
import { opItem } from './op-item.ts';
import { aWaitingOp } from './spec-rounds.ts';

const AT_NINE: Position = { counter: 9n, base: 9n, flip: null };
const MB = 1024 * 1024;

function waiting(n: number, of: Partial<WaitingOp> = {}): WaitingOp[] {
  return Array.from({ length: n }, (_, i) => aWaitingOp(`op-${i + 1}`, of));
}

function idsOf({ ops }: Round): string[] {
  return ops.map(({ op }) => op.opId);
}

describe('a round', () => {
  it('RLY-8: takes 49 ops with their claims, the counter and the check: 100 actions', () => {
    const round = planRound(waiting(60), AT_NINE, 49);
    expect(round).toMatchObject({ counter: 9n, base: 9n, check: 'present' });
    expect(idsOf(round)).toEqual(waiting(49).map(({ op }) => op.opId));
    expect(layoutOf(round).length).toBe(100);
  });

  // kills: append-round.ts: Math.min(opsMax, ROUND_OPS_MAX) => opsMax
  it('RLY-8: takes no more than 49 ops, whatever is set, and with fewer items too', () => {
    expect(planRound(waiting(80, { isClaimed: false }), AT_NINE, 60).ops.length).toBe(49);
    expect(planRound(waiting(80), AT_NINE, 1).ops.length).toBe(1);
    expect(planRound(waiting(3), AT_NINE, 49).ops.length).toBe(3);
    expect(planRound([], AT_NINE, 49).ops).toEqual([]);
  });

  // kills: append-round.ts: COUNTER_BYTES + ITEM_BYTES_MAX => COUNTER_BYTES
  it('RLY-8: stays within 4 MB with the op before it counted as 400 KB, and always takes one op', () => {
    const room = 4 * MB - 400 * 1024 - 4096;
    const half = { bytes: room / 2 };
    expect(planRound(waiting(3, half), AT_NINE, 49).ops.length).toBe(2);
    expect(planRound(waiting(3, { bytes: room / 2 + 1 }), AT_NINE, 49).ops.length).toBe(1);
    expect(planRound(waiting(9, { bytes: 800_000 }), AT_NINE, 49).ops.length).toBe(4);
    expect(planRound(waiting(9, { bytes: 800_000 }), { ...AT_NINE, counter: 0n, base: 0n }, 49).ops.length).toBe(5);
  });

  it('RLY-7: checks the op before it, unless it is the first of its stream', () => {
    expect(planRound(waiting(1), { counter: 0n, base: 0n, flip: null }, 49).check).toBeNull();
    expect(planRound(waiting(1), { counter: 0n, base: 0n, flip: 0n }, 49).check).toBeNull();
    expect(planRound(waiting(1), { counter: 0n, base: 7n, flip: null }, 49).check).toBe('present');
    expect(planRound(waiting(1), AT_NINE, 49).check).toBe('present');
  });

  // kills: append-round.ts: flip === base => flip !== null
  it('RLY-7: checks for absence where that is proved, and nowhere else', () => {
    expect(planRound(waiting(1), { ...AT_NINE, flip: 9n }, 49).check).toBe('absent');
    expect(planRound(waiting(1), { ...AT_NINE, flip: 8n }, 49).check).toBe('present');
  });

  it('RLY-8: ends before an op id that is in it already, so that the order stays', () => {
    const [a, b] = waiting(2) as [WaitingOp, WaitingOp];
    expect(idsOf(planRound([a, b, { ...a, isClaimed: false }], AT_NINE, 49))).toEqual(['op-1', 'op-2']);
  });

  // kills: append-round.ts: ids.has(one.op.opId) || (one.isClaimed && claims.has(one.claimSeq)) => ids.has(one.op.opId)
  it('RLY-8: ends before an op whose claim has the key of another in it, unless it goes without', () => {
    const [a, b, c] = waiting(3) as [WaitingOp, WaitingOp, WaitingOp];
    const clashing = { ...b, claimSeq: a.claimSeq };
    expect(idsOf(planRound([a, clashing, c], AT_NINE, 49))).toEqual(['op-1']);
    expect(idsOf(planRound([a, { ...clashing, isClaimed: false }, c], AT_NINE, 49))).toEqual(['op-1', 'op-2', 'op-3']);
    expect(idsOf(planRound([{ ...a, isClaimed: false }, clashing, c], AT_NINE, 49))).toEqual(['op-1', 'op-2', 'op-3']);
  });

  it('S11: takes no seq beyond the last one there is', () => {
    const near = (left: bigint) => ({ counter: I64_MAX - left, base: I64_MAX - left, flip: null });
    expect(planRound(waiting(5), near(2n), 49).ops.length).toBe(2);
    expect(planRound(waiting(5), near(0n), 49).ops.length).toBe(0);
  });

  it('RLY-8: takes the first ops in their order, as many as fit, whatever they are', () => {
    const one = fc.record({
      opId: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g'),
      bytes: fc.integer({ min: 200, max: 800_000 }),
      isClaimed: fc.boolean(),
    });
    const position = fc.record({
      counter: fc.bigInt(0n, I64_MAX),
      base: fc.oneof(fc.bigInt(0n, I64_MAX), fc.constantFrom(0n, 1n, I64_MAX - 1n)),
      flip: fc.option(fc.bigInt(0n, 3n)),
    });
    fc.assert(
      fc.property(fc.array(one, { maxLength: 60 }), position, fc.integer({ min: 1, max: 60 }), (ops, at, opsMax) => {
        const all = ops.map(({ opId, ...rest }) => aWaitingOp(opId, rest));
        const round = planRound(all, at, opsMax);
        expect(round.ops).toEqual(all.slice(0, round.ops.length));
        const next = all[round.ops.length];
        if (next === undefined) return;
        // One more would break a bound.
        expect(fits([...round.ops, next], round, opsMax)).toBe(false);
        expect(fits(round.ops, round, opsMax)).toBe(true);
      }),
    );
  });
});

function fits(ops: readonly WaitingOp[], round: Round, opsMax: number): boolean {
  const keys = ops.filter(({ isClaimed }) => isClaimed).map((one) => one.claimSeq);
  const bytes = ops.reduce((sum, one) => sum + one.bytes, round.check === null ? 4096 : 4096 + 409_600);
  return (
    ops.length <= Math.min(opsMax, 49) &&
    layoutOf({ ...round, ops }).length <= 100 &&
    bytes <= 4 * MB &&
    new Set(keys).size === keys.length &&
    new Set(ops.map(({ op }) => op.opId)).size === ops.length &&
    round.base + BigInt(ops.length) <= I64_MAX
  );
}

describe('the transaction of a round', () => {
  const o1 = anOp({ opId: 'o1' });

  it('RLY-8: of one op is exactly the four items of the single-op protocol', () => {
    const round = planRound([aWaitingOp('o1')], AT_NINE, 1);
    expect(transactItems('ops', 's/1', round)).toEqual([
      {
        Update: {
          TableName: 'ops',
          Key: { stream_id: { S: 's/1' }, seq: { N: '0' } },
          UpdateExpression: 'SET next_seq = :seq',
          ConditionExpression: 'next_seq = :expected',
          ExpressionAttributeValues: { ':seq': { N: '10' }, ':expected': { N: '9' } },
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
        },
      },
      {
        Put: {
          TableName: 'ops',
          Item: {
            stream_id: { S: 's/1' },
            seq: { N: '-1272668462371106663' },
            op_id: { S: 'o1' },
            op_seq: { N: '10' },
          },
          ConditionExpression: 'attribute_not_exists(stream_id)',
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
        },
      },
      {
        ConditionCheck: {
          TableName: 'ops',
          Key: { stream_id: { S: 's/1' }, seq: { N: '9' } },
          ConditionExpression: 'attribute_exists(stream_id)',
        },
      },
      {
        Put: {
          TableName: 'ops',
          Item: opItem('s/1', 10n, o1),
          ConditionExpression: 'attribute_not_exists(stream_id)',
        },
      },
    ]);
  });

  it('RLY-7: expects no counter, or one of 0, before the first op, and has no check there', () => {
    const [update, ...rest] = transactItems(
      'ops',
      's',
      planRound([aWaitingOp('o1')], { ...AT_NINE, counter: 0n, base: 0n }, 1),
    );
    expect(update?.Update).toMatchObject({
      ConditionExpression: 'attribute_not_exists(next_seq) OR next_seq = :expected',
      ExpressionAttributeValues: { ':seq': { N: '1' }, ':expected': { N: '0' } },
    });
    expect(rest.map((item) => Object.keys(item))).toEqual([['Put'], ['Put']]);
  });

  it('RLY-7b: a round above the counter expects it where it stands, and checks the op right below', () => {
    const round = planRound(waiting(3), { counter: 4n, base: 40n, flip: null }, 49);
    const items = transactItems('ops', 's', round);
    expect(items[0]?.Update?.ExpressionAttributeValues).toEqual({ ':seq': { N: '43' }, ':expected': { N: '4' } });
    expect(items[4]?.ConditionCheck?.Key?.['seq']).toEqual({ N: '40' });
    expect(items.slice(5).map(({ Put }) => Put?.Item?.['seq']?.N)).toEqual(['41', '42', '43']);
  });

  it('RLY-8: stands in the places that its layout names', () => {
    const claims = fc.array(fc.boolean(), { minLength: 1, maxLength: 49 });
    fc.assert(
      fc.property(claims, fc.constantFrom(0n, 9n), fc.boolean(), (claimed, base, isFlipped) => {
        const all = claimed.map((isClaimed, i) => aWaitingOp(`op-${i}`, { isClaimed }));
        const round = planRound(all, { counter: base, base, flip: isFlipped ? base : null }, 49);
        const layout = layoutOf(round);
        const items = transactItems('ops', 's', round);
        expect(items.length).toBe(layout.length);
        expect(items[layout.counter]?.Update).toBeDefined();
        expect(layout.check === null).toBe(base === 0n);
        if (layout.check !== null) expect(items[layout.check]?.ConditionCheck?.Key?.['seq']).toEqual({ N: '9' });
        round.ops.forEach(({ op, isClaimed }, i) => {
          const seq = { N: String(base + BigInt(i) + 1n) };
          expect(items[layout.ops + i]?.Put?.Item).toEqual(opItem('s', base + BigInt(i) + 1n, op));
          const place = layout.claims[i] as number | null;
          expect(place === null).toBe(!isClaimed);
          if (place !== null)
            expect(items[place]?.Put?.Item).toMatchObject({
              seq: { N: String(claimSeq(op.opId)) },
              op_id: { S: op.opId },
              op_seq: seq,
            });
        });
      }),
    );
  });
});
