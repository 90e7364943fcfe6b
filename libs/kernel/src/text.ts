/**
 * Order of two strings by their UTF-8 bytes (which is the order of code points), as SQLite's BINARY collation, Postgres' "C",
 * DynamoDB and Rust compare. JavaScript's `<` compares UTF-16 units and differs above U+FFFF.
 * Negative when a sorts first, 0 when equal. A lone surrogate has no UTF-8 form; it sorts by its code unit.
 */
export function compareUtf8(a: string, b: string): number {
  const shared = Math.min(a.length, b.length);
  for (let i = 0; i < shared; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x !== y) return codePointRank(x) - codePointRank(y);
  }
  return a.length - b.length;
}

/** Where a code unit stands among first differing units: surrogates (U+10000 and above) after U+E000..U+FFFF. */
function codePointRank(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}
