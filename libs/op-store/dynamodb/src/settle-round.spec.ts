import type { CancellationReason } from '@aws-sdk/client-dynamodb';
import { I64_MAX } from '@tidemark/libs-wire';
import fc from 'fast-check';
import { type Layout, layoutOf, type Round, type WaitingOp } from './append-round.ts';
import { type Settled, settleRound } from './settle-round.ts';
import { aWaitingOp } from './spec-rounds.ts';

const FAILED = 'ConditionalCheckFailed';
/** One of each kind; the others of a kind are alike, see below. */
const CODES = ['None', FAILED, 'TransactionConflict', 'ThrottlingError', 'ValidationError'] as const;

describe('a cancelled round of up to 3 ops, whatever its claims and check', () => {
  const rounds = [1, 2, 3].flatMap((k) =>
    everyOne([true, false], k).flatMap((claimed) =>
      ([null, 'present', 'absent'] as const).map((check) => aRound(claimed, check)),
    ),
  );

  test.each(rounds.map((round) => [named(round), round] as const))(
    'RLY-7, R13, D4: %s: every combination of reasons settles by the first that fits',
    (_, round) => {
      const layout = layoutOf(round);
      // Of three ops a throttle stands for what may pass, as a conflict does there: it differs in name, and in rank below all else.
      const of = round.ops.length < 3 ? CODES : CODES.filter((code) => code !== 'TransactionConflict');
      for (let n = 0; n < of.length ** layout.length; n++) {
        const codes = codesOf(n, of, layout.length);
        const [step, wanted] = [told(settleRound(round, codes.map(reason))), expected(layout, codes)];
        // Half a million expectations would take longer than all other tests.
        if (step !== wanted) throw new Error(`${codes.join()}: ${step} and not ${wanted}`);
      }
    },
  );
});

describe('the reasons of a cancelled round', () => {
  // kills: settle-round.ts: codes.length !== layout.length || => false ||
  it('RLY-7: as many as there are items, or nothing is concluded', () => {
    const round = aRound([true], 'present');
    for (const codes of [[], ['None', FAILED, 'None'], ['None', FAILED, 'None', 'None', 'None']])
      expect(settleRound(round, codes.map(reason)).kind).toBe('refused');
  });

  it('D5, D10: of another kind are told in full, and nothing is concluded, whatever else failed', () => {
    const round = aRound([true], 'present');
    const reasons = [FAILED, FAILED, 'None', 'ValidationError'].map(reason);
    reasons[3] = { Code: 'ValidationError', Message: 'Item size has exceeded the maximum allowed size' };
    expect(settleRound(round, reasons)).toEqual({
      kind: 'refused',
      reasons: `${FAILED}; ${FAILED}; ValidationError: Item size has exceeded the maximum allowed size`,
    });
    expect(settleRound(round, [{}, {}, {}, {}])).toEqual({ kind: 'refused', reasons: 'no reason was given' });
  });

  it('D4: a partition that takes no more is a throttle, under either name', () => {
    const round = aRound([true], 'present');
    for (const code of ['ThrottlingError', 'ProvisionedThroughputExceeded'])
      expect(settleRound(round, ['None', 'TransactionConflict', 'None', code].map(reason))).toEqual({
        kind: 'throttled',
      });
  });

  it('RLY-7: bring the counter, which is 0 where there is none', () => {
    const round = aRound([true], null);
    const lost = (item: CancellationReason['Item']) =>
      settleRound(round, [
        { Code: FAILED, ...(item === undefined ? {} : { Item: item }) },
        reason('None'),
        reason('None'),
      ]);
    expect(lost({ next_seq: { N: '7' } })).toEqual({ kind: 'lost', counter: 7n });
    expect(lost({ next_seq: { N: String(I64_MAX) } })).toEqual({ kind: 'lost', counter: I64_MAX });
    expect(lost(undefined)).toEqual({ kind: 'lost', counter: 0n });
    expect(lost({ truncated_through: { N: '3' } })).toEqual({ kind: 'lost', counter: 0n });
    for (const malformed of [{ S: '7' }, { N: '1.5' }, { N: '9223372036854775808' }, { N: '-1' }])
      expect(() => lost({ next_seq: malformed })).toThrow(expect.objectContaining({ code: 'corrupt' }));
  });

  it('RLY-5: bring what the claims hold, each at the place of its op, and the counter beside them', () => {
    const round = aRound([true, false, true], 'present');
    const claim = { op_id: { S: 'op-2' }, op_seq: { N: '4' } };
    const codes = [FAILED, 'None', FAILED, FAILED, FAILED, 'None', 'None'];
    const reasons = codes.map((code, i) => ({ Code: code, ...(i === 2 ? { Item: claim } : {}) }));
    expect(settleRound(round, reasons)).toEqual({ kind: 'claimed', claims: [{ at: 2, item: claim }], counter: 0n });
  });

  it('RLY-5, RLY-8: rounds of any size settle as small ones do', () => {
    const code = fc.constantFrom(...CODES, 'None', 'None');
    const check = fc.constantFrom(null, 'present' as const, 'absent' as const);
    fc.assert(
      fc.property(
        fc.array(fc.boolean(), { minLength: 1, maxLength: 49 }),
        check,
        fc.infiniteStream(code),
        (claimed, of, stream) => {
          const round = aRound(claimed, of);
          const layout = layoutOf(round);
          const codes = [...stream.take(layout.length)];
          expect(told(settleRound(round, codes.map(reason)))).toBe(expected(layout, codes));
        },
      ),
    );
  });
});

/** What the table of the protocol says, in its order. */
function expected(layout: Layout, codes: readonly string[]): string {
  const failed = (place: number | null): boolean => place !== null && codes[place] === FAILED;
  const claims = layout.claims.map((place, i) => (failed(place) ? i : -1)).filter((i) => i >= 0);
  if (codes.includes('ValidationError') || codes.every((code) => code === 'None')) return 'refused';
  if (claims.length > 0) return `claimed ${claims.join()}${failed(layout.counter) ? ' from 0' : ''}`;
  if (failed(layout.counter)) return 'lost from 0';
  if (codes.slice(layout.ops).includes(FAILED)) return 'taken';
  if (failed(layout.check) && codes[layout.counter] === 'None') return 'gap';
  return codes.includes('ThrottlingError') ? 'throttled' : 'conflict';
}

function told(step: Settled): string {
  if (step.kind === 'claimed') {
    const from = step.counter === null ? '' : ` from ${step.counter}`;
    return `claimed ${step.claims.map(({ at }) => at).join()}${from}`;
  }
  return step.kind === 'lost' ? `lost from ${step.counter}` : step.kind;
}

const REASONS = new Map(CODES.map((Code): [string, CancellationReason] => [Code, { Code }]));

function reason(code: string): CancellationReason {
  return REASONS.get(code) ?? { Code: code };
}

function aRound(claimed: readonly boolean[], check: Round['check']): Round {
  const ops: WaitingOp[] = claimed.map((isClaimed, i) => ({ ...aWaitingOp(`op-${i}`), isClaimed }));
  return { counter: 9n, base: check === null ? 0n : 9n, check, ops };
}

function named({ ops, check }: Round): string {
  return `${ops.map(({ isClaimed }) => (isClaimed ? 'claimed' : 'unclaimed')).join(', ')}, ${check ?? 'no'} check`;
}

/** The nth list of codes of that length. */
function codesOf(n: number, of: readonly string[], length: number): string[] {
  const codes: string[] = [];
  for (let rest = n; codes.length < length; rest = Math.floor(rest / of.length)) {
    codes.push(of[rest % of.length] as string);
  }
  return codes;
}

/** Every list of that length. */
function everyOne<T>(values: readonly T[], length: number): T[][] {
  if (length === 0) return [[]];
  return everyOne(values, length - 1).flatMap((rest) => values.map((value) => [...rest, value]));
}
