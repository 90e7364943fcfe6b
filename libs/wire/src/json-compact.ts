/** Drops the blanks between tokens of a text that is known to be JSON; strings and numbers stay as they were written. */
export function compactJson(text: string): string {
  if (!/[ \t\n\r]/.test(text)) return text;
  let compact = '';
  let at = 0;
  while (at < text.length) {
    const quote = text.indexOf('"', at);
    const between = quote < 0 ? text.slice(at) : text.slice(at, quote);
    compact += between.replace(/[ \t\n\r]+/g, '');
    if (quote < 0) break;
    at = endOfString(text, quote);
    compact += text.slice(quote, at);
  }
  return compact;
}

function endOfString(text: string, quote: number): number {
  let at = quote + 1;
  for (;;) {
    const unit = text.charCodeAt(at);
    if (unit === 0x22) return at + 1;
    at += unit === 0x5c ? 2 : 1;
  }
}
