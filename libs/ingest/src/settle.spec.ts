import fc from 'fast-check';
import { Fault } from '@tidemark/libs-kernel';
import { type Fate, type Sent, type Settlement, settle, settleReserveFault } from './settle.ts';

const LEASE_MS = 29_500;
const SENT: readonly Sent[] = ['stored', 'duplicate', 'full', 'too_large', 'unavailable', 'unknown', 'not_sent'];

/**
 * The rules as they are promised, written without a look at how settle decides: what is known of an event in the queue, and from that alone
 * where its claim goes and what the client hears.
 */
const inQueue = (fate: Fate) => 'sent' in fate && (fate.sent === 'stored' || fate.sent === 'duplicate');
const maybeInQueue = (fate: Fate) => 'sent' in fate && (fate.sent === 'unavailable' || fate.sent === 'unknown');
const tooLarge = (fate: Fate) => 'sent' in fate && fate.sent === 'too_large';

/** What one record alone asks the request to end with: status, text, seconds to wait. */
function complaint(fate: Fate): [status: number, error: string, waitMs: number | null] | null {
  if (fate.kind === 'in_flight') return [503, 'a request with the same dedupe id is in flight', LEASE_MS];
  if (!('sent' in fate)) return null;
  if (fate.sent === 'full') return [503, 'service unavailable', 30_000];
  if (fate.sent === 'unavailable') return [503, 'service unavailable', fate.kind === 'claimed' ? LEASE_MS : 5_000];
  return fate.sent === 'unknown' ? [500, 'publish failed', null] : null;
}

function expectRules(fates: readonly Fate[], earlierQueued: boolean): void {
  const settlement = settle(fates, { leaseMs: LEASE_MS, earlierQueued });
  const claimed = fates.flatMap((fate, at) => (fate.kind === 'claimed' ? [{ fate, at }] : []));
  const where = (holds: (fate: Fate) => boolean) => claimed.filter(({ fate }) => holds(fate)).map(({ at }) => at);
  same(settlement.commit, where(inQueue));
  same(settlement.lapse, where(maybeInQueue));
  same(
    settlement.release,
    where((fate) => !inQueue(fate) && !maybeInQueue(fate)),
  );
  expectAnswer(fates, earlierQueued, settlement);
}

function expectAnswer(fates: readonly Fate[], earlierQueued: boolean, { failure, verdicts }: Settlement): void {
  const complaints = fates.flatMap((fate) => {
    const heard = complaint(fate);
    return heard === null ? [] : [heard];
  });
  const unsent = fates.some((fate) => 'sent' in fate && fate.sent === 'not_sent');
  if (complaints.length === 0 && !unsent) {
    if (failure !== null) throw new Error('a window without a failing record goes on');
    same(
      verdicts,
      fates.map((fate) => verdict(fate, fates)),
    );
    return;
  }
  const [status, error] = complaints[0] ?? [503, 'service unavailable'];
  const waits = complaints.length === 0 ? [5_000] : complaints.flatMap(([, , wait]) => (wait === null ? [] : [wait]));
  const retryAfterMs = waits.length === 0 ? null : waits.reduce((a, b) => (a > b ? a : b));
  const known =
    earlierQueued || fates.some((fate) => inQueue(fate) || fate.kind === 'duplicate') ? 'partly' : 'not-done';
  same(failure, { status, error, retryAfterMs, outcome: fates.some(maybeInQueue) ? 'unknown' : known });
  same(verdicts, []);
}

function verdict(fate: Fate, fates: readonly Fate[]): string {
  if (fate.kind === 'repeat') return tooLarge(fates[fate.of]!) ? 'repeat_of_refused' : 'duplicate';
  if (inQueue(fate)) return 'stored';
  return tooLarge(fate) ? 'too_large' : fate.kind;
}

/** Member by member: Jest's matchers, used on every one of 250,000 windows, would be slow. */
function same(actual: object | null, expected: object): void {
  const members = Object.entries(expected);
  const found = actual as Readonly<Record<string, unknown>> | null;
  const equal = found !== null && Object.keys(found).length === members.length;
  if (!equal || members.some(([name, value]) => found[name] !== value)) expect(actual).toEqual(expected);
}

const PLAIN: readonly Fate[] = [{ kind: 'rejected' }, { kind: 'duplicate' }];
const PUBLISHED: readonly Fate[] = SENT.flatMap((sent): Fate[] => [
  { kind: 'unkeyed', sent },
  { kind: 'claimed', sent },
]);
/** While any key is in flight nothing is sent. */
const HELD_BACK: readonly Fate[] = [
  { kind: 'in_flight' },
  { kind: 'unkeyed', sent: 'not_sent' },
  { kind: 'claimed', sent: 'not_sent' },
];

/** Every window of `size` records over the alphabet, each later record also as a repeat of every earlier one that has an id. */
function* windows(size: number, alphabet: readonly Fate[], before: readonly Fate[] = []): Generator<readonly Fate[]> {
  if (before.length === size) return yield before;
  const repeats = before.flatMap((fate, of): Fate[] => (hasId(fate) ? [{ kind: 'repeat', of }] : []));
  for (const fate of [...alphabet, ...repeats]) yield* windows(size, alphabet, [...before, fate]);
}

const hasId = ({ kind }: Fate): boolean => kind === 'claimed' || kind === 'duplicate' || kind === 'in_flight';

test.each([0, 1, 2, 3, 4])('ING-2, ING-3: every window of %i published records settles by the rules', (size) => {
  for (const fates of windows(size, [...PLAIN, ...PUBLISHED])) {
    expectRules(fates, false);
    expectRules(fates, true);
  }
});

test.each([1, 2, 3, 4])(
  'ING-2: every window of %i records with a key in flight elsewhere settles by the rules',
  (size) => {
    for (const fates of windows(size, [...PLAIN, ...HELD_BACK])) {
      expectRules(fates, false);
      expectRules(fates, true);
    }
  },
);

const anyFate = fc.constantFrom(...PLAIN, ...PUBLISHED);
const anyWindow = fc.array(anyFate, { minLength: 1, maxLength: 256 });

test('ING-2: every claim of a window goes to exactly one place, in record order', () => {
  fc.assert(
    fc.property(anyWindow, (fates) => {
      const { commit, release, lapse } = settle(fates, { leaseMs: LEASE_MS, earlierQueued: false });
      const claimed = fates.flatMap((fate, at) => (fate.kind === 'claimed' ? [at] : []));
      expect([...commit, ...release, ...lapse].sort((a, b) => a - b)).toEqual(claimed);
      for (const list of [commit, release, lapse]) expect([...list].sort((a, b) => a - b)).toEqual(list);
    }),
  );
});

test('ING-2: where a claim goes does not depend on the other records of the window', () => {
  const place = ({ commit, release }: Settlement, at: number) =>
    commit.includes(at) ? 'commit' : release.includes(at) ? 'release' : 'lapse';
  fc.assert(
    fc.property(anyWindow, fc.nat(), (fates, any) => {
      const at = any % fates.length;
      const context = { leaseMs: LEASE_MS, earlierQueued: false };
      if (fates[at]?.kind !== 'claimed') return;
      expect(place(settle(fates, context), at)).toBe(place(settle([fates[at]], context), 0));
    }),
  );
});

const REFUSED = { at: 'release', status: 503, retryAfterMs: 30_000, outcome: 'partly' };
test.each([
  ['full', REFUSED],
  ['unavailable', { at: 'lapse', status: 503, retryAfterMs: LEASE_MS, outcome: 'unknown' }],
  ['unknown', { at: 'lapse', status: 500, retryAfterMs: null, outcome: 'unknown' }],
] as const)(
  'ING-2: sent one by one, %s at k commits the records before k and releases those after it',
  (sent, expected) => {
    for (const k of [1, 2, 100, 256]) {
      const fates = Array.from({ length: 256 }, (_, i): Fate => ({
        kind: 'claimed',
        sent: i + 1 < k ? 'stored' : i + 1 === k ? sent : 'not_sent',
      }));
      const settlement = settle(fates, { leaseMs: LEASE_MS, earlierQueued: true });
      const range = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);
      expect(settlement.commit).toEqual(range(0, k - 1));
      expect(settlement.lapse).toEqual(expected.at === 'lapse' ? [k - 1] : []);
      expect(settlement.release).toEqual(range(expected.at === 'release' ? k - 1 : k, 256));
      const { status, retryAfterMs, outcome } = expected;
      expect(settlement.failure).toMatchObject({ status, retryAfterMs, outcome });
    }
  },
);

test('ING-3: of several failing records the lowest gives the status and the longest wait is asked', () => {
  const fates: Fate[] = [
    { kind: 'claimed', sent: 'unknown' },
    { kind: 'claimed', sent: 'full' },
    { kind: 'unkeyed', sent: 'unavailable' },
  ];
  const { failure } = settle(fates, { leaseMs: LEASE_MS, earlierQueued: false });
  expect(failure).toEqual({ status: 500, error: 'publish failed', retryAfterMs: 30_000, outcome: 'unknown' });
});

test('ING-2: a reserve that a later try can cure is 503 after 5 s, any other 500 without a time', () => {
  for (const earlierQueued of [false, true]) {
    const outcome = earlierQueued ? 'partly' : 'not-done';
    for (const code of ['unavailable', 'disk_full'] as const) {
      expect(settleReserveFault(new Fault(code, 'x'), earlierQueued)).toEqual({
        status: 503,
        error: 'dedupe store unavailable',
        retryAfterMs: 5_000,
        outcome,
      });
    }
    for (const code of ['misconfigured', 'corrupt', 'internal', 'unknown_outcome'] as const) {
      expect(settleReserveFault(new Fault(code, 'x'), earlierQueued)).toEqual({
        status: 500,
        error: 'dedupe failed',
        retryAfterMs: null,
        outcome,
      });
    }
  }
});
