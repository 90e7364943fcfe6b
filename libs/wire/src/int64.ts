export const I64_MIN = -(2n ** 63n);
export const I64_MAX = 2n ** 63n - 1n;
export const U64_MAX = 2n ** 64n - 1n;

/**
 * The value of a JSON integer token in the signed 64-bit range, else null. A fraction or an exponent is no integer, whatever its
 * value. `-0` is null: it is the one token whose value would be printed as another (`0`), and JSON readers take it for a float.
 */
export function parseInt64(text: string): bigint | null {
  // At most 19 digits, so that a huge token costs nothing.
  if (!/^(?:0|-?[1-9][0-9]{0,18})$/.test(text)) return null;
  // Up to 15 digits the way through a number is exact, and ten times as fast.
  if (text.length < 16) return BigInt(Number(text));
  const value = BigInt(text);
  return value < I64_MIN || value > I64_MAX ? null : value;
}
