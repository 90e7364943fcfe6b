import { encodeCommit, expiresAtNs, stateOf } from './commit-value.ts';

const NOW_MS = 1_790_000_000_000;
const hex = (value: Uint8Array) => Buffer.from(value).toString('hex');

describe('the value of a committed id', () => {
  test('DDP-1: is 0x02 and the expiry in Unix nanoseconds, big-endian; 0 means never', () => {
    expect(hex(encodeCommit(expiresAtNs(NOW_MS, 3_600_000)))).toBe('0218d75eca54aba000');
    expect(hex(encodeCommit(expiresAtNs(NOW_MS, 0)))).toBe('020000000000000000');
    expect(hex(encodeCommit(expiresAtNs(NOW_MS, -1)))).toBe('020000000000000000');
  });

  test.each([Number.MAX_SAFE_INTEGER, Number.MAX_VALUE, Infinity])(
    'DDP-5: a retention of %d ms ends at the last instant that can be written, and does not wrap',
    (retentionMs) => {
      const value = encodeCommit(expiresAtNs(NOW_MS, retentionMs));
      expect(hex(value)).toBe('027fffffffffffffff');
      expect(stateOf(value, NOW_MS)).toBe('live');
    },
  );

  test('DDP-5: is live to the last millisecond, never a moment shorter than asked', () => {
    const value = encodeCommit(expiresAtNs(NOW_MS, 1_000));
    expect([999, 1_000].map((ms) => stateOf(value, NOW_MS + ms))).toEqual(['live', 'expired']);
    const odd = encodeCommit(expiresAtNs(NOW_MS, 0.4));
    expect([0, 1].map((ms) => stateOf(odd, NOW_MS + ms))).toEqual(['live', 'expired']);
  });

  test.each(['', '02', '0200000000000000', '02000000000000000000', '010000000000000000', '1790000000000'])(
    'DDP-1: anything else (%p) is unreadable',
    (text) => expect(stateOf(Buffer.from(text, 'hex'), NOW_MS)).toBe('unreadable'),
  );

  test('DDP-1: is read at any offset of a larger buffer', () => {
    const padded = Buffer.concat([Buffer.from([9, 9, 9]), encodeCommit(1n)]);
    expect(stateOf(padded.subarray(3), NOW_MS)).toBe('expired');
  });
});
