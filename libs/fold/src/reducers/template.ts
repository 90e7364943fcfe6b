import { quoteJson } from '@tidemark/libs-wire';
import type { Frame, Part, Scope, Variable } from './scope.ts';
import type { Spot } from './spot.ts';

/** Constant texts and names, in turn. */
export type Pieces = readonly (string | Variable)[];

const PIECE = /\{([^{}]+)\}|[{}]|[^{}]+/g;

export function parseTemplate(spot: Spot, scope: Scope, text = spot.text()): Pieces {
  return [...text.matchAll(PIECE)].map(([piece, name]) => {
    if (name !== undefined) return scope.find(name, spot);
    return piece === '{' || piece === '}' ? spot.fail('a brace that belongs to no {name}') : piece;
  });
}

/** The variable, where the template is one name alone. */
export function loneVariable(pieces: Pieces): Variable | null {
  const [first, ...more] = pieces;
  return typeof first === 'object' && more.length === 0 ? first : null;
}

/** A text that is always there. */
export function textOf(spot: Spot, pieces: Pieces): (frame: Frame) => string {
  for (const piece of pieces) {
    if (typeof piece === 'string') continue;
    if (piece.nullable) spot.fail(`{${piece.name}} may be null here: let \`read\` ask for a text`);
    if (piece.type === 'list' || piece.type === 'json') spot.fail(`{${piece.name}} is a ${piece.type} here, no text`);
  }
  const [lone] = pieces;
  if (pieces.length === 1 && lone !== undefined)
    return typeof lone === 'string' ? () => lone : (frame) => String(lone.get(frame));
  return (frame) => {
    let text = '';
    for (const piece of pieces) text += typeof piece === 'string' ? piece : String(piece.get(frame));
    return text;
  };
}

/** The JSON text of a value: literals, objects, templates. */
export function valueOf(spot: Spot, scope: Scope): (frame: Frame) => string {
  if (spot.isObject()) return objectOf(spot, scope);
  const { value } = spot;
  if (typeof value !== 'string') {
    const literal = value === null || typeof value === 'boolean' ? String(value) : String(spot.integer());
    return () => literal;
  }
  const pieces = parseTemplate(spot, scope);
  const variable = loneVariable(pieces);
  if (variable === null) {
    const text = textOf(spot, pieces);
    return (frame) => quoteJson(text(frame));
  }
  const { type, get } = variable;
  if (type === 'list') spot.fail(`{${variable.name}} is a list here, no value`);
  if (type === 'text') return (frame) => jsonOf(get(frame));
  return (frame) => String(get(frame));
}

function objectOf(spot: Spot, scope: Scope): (frame: Frame) => string {
  const members = spot
    .entries()
    .map(([name, member], at) => [`${at > 0 ? ',' : ''}${quoteJson(name)}:`, valueOf(member, scope)] as const);
  return (frame) => {
    let text = '{';
    for (const [name, value] of members) text += name + value(frame);
    return `${text}}`;
  };
}

function jsonOf(part: Part): string {
  return typeof part === 'string' ? quoteJson(part) : 'null';
}
