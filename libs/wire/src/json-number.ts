import { refuseJson } from './json-refuse.ts';

const MINUS = 0x2d;
const PLUS = 0x2b;
const POINT = 0x2e;
const ZERO = 0x30;
const LOWER_E = 0x65;

export function beginsNumber(unit: number): boolean {
  return unit === MINUS || isDigit(unit);
}

/** Offset after the number token that begins at `at`. */
export function endOfNumber(text: string, at: number): number {
  if (text.charCodeAt(at) === MINUS) at++;
  at = text.charCodeAt(at) === ZERO ? at + 1 : endOfDigits(text, at);
  if (text.charCodeAt(at) === POINT) at = endOfDigits(text, at + 1);
  if ((text.charCodeAt(at) | 0x20) !== LOWER_E) return at;
  const sign = text.charCodeAt(at + 1);
  return endOfDigits(text, sign === PLUS || sign === MINUS ? at + 2 : at + 1);
}

function endOfDigits(text: string, start: number): number {
  let at = start;
  while (at < text.length && isDigit(text.charCodeAt(at))) at++;
  return at > start ? at : refuseJson(text, at, 'expected a digit');
}

function isDigit(unit: number): boolean {
  return unit >= 0x30 && unit <= 0x39;
}
