import { claimItem, committedItem, retentionEndMs, secondsDown, statusOf } from './item.ts';

const TOKEN = '00112233445566778899aabbccddeeff';
const OTHER = TOKEN.replace('00', '01');

describe('what stands in the table', () => {
  test('DDP-1: a claim is pk, st 1, ex and 16 bytes of tk; a commit has st 2, and no ex when it never ends', () => {
    const tk = { B: Buffer.from(TOKEN, 'hex') };
    expect(claimItem('a/b/c', TOKEN, 5000)).toEqual({ pk: { S: 'a/b/c' }, st: { N: '1' }, ex: { N: '5' }, tk });
    expect(committedItem('a/b/c', TOKEN, 5000)).toEqual({ pk: { S: 'a/b/c' }, st: { N: '2' }, ex: { N: '5' }, tk });
    expect(committedItem('a/b/c', TOKEN, null)).toEqual({ pk: { S: 'a/b/c' }, st: { N: '2' }, tk });
    expect(tk.B).toHaveLength(16);
  });

  // kills: item.ts: Math.ceil(ms / 1000) => Math.floor(ms / 1000)
  test('DDP-7: ends are whole seconds, rounded up, and the time that they are compared with is rounded down', () => {
    const end = (ms: number) => Number(claimItem('k', TOKEN, ms)['ex']?.N);
    expect([5000, 5001, 5999, 6000].map(end)).toEqual([5, 6, 6, 6]);
    expect([4999, 5000, 5999].map(secondsDown)).toEqual([4, 5, 5]);
  });

  test('DDP-5: a retention that is not positive, or too long to count, never ends', () => {
    expect([0, -1, Infinity, NaN, Number.MAX_VALUE].map((ms) => retentionEndMs(1000, ms))).toEqual(Array(5).fill(null));
    expect(retentionEndMs(1000, 500)).toBe(1500);
    const { ex } = committedItem('k', TOKEN, retentionEndMs(1.79e12, Number.MAX_SAFE_INTEGER));
    expect(ex?.N).toMatch(/^\d+$/);
  });

  // kills: item.ts: return 'duplicate' => return 'in_flight'
  test('DDP-2: where a put did not get the key, a commit is a duplicate, the own token a claim, and all else in flight', () => {
    expect(statusOf(committedItem('k', TOKEN, null), TOKEN)).toBe('duplicate');
    expect(statusOf(claimItem('k', TOKEN, 1), TOKEN)).toBe('claimed');
    expect(statusOf(claimItem('k', OTHER, 1), TOKEN)).toBe('in_flight');
    expect(statusOf({ pk: { S: 'k' } }, TOKEN)).toBe('in_flight');
    expect(statusOf(undefined, TOKEN)).toBe('in_flight');
  });
});
