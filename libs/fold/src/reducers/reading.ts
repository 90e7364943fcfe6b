import { parseInt64 } from '@tidemark/libs-wire';
import { jsonProblem } from './json-text.ts';
import { readMembers } from './members.ts';
import type { Frame, Part, Scope, Variable } from './scope.ts';
import type { Spot } from './spot.ts';

/** Fills parts of the frame; answers why the op cannot be read, without its content. */
export type Read = (frame: Frame) => string | null;

const FORMS = ['text', 'integer', 'json', 'list', 'split'] as const;

/** Tags of a remove are cells that are written one by one. */
const LIST_COUNT_MAX = 4096;

/** One entry of `read`: what becomes of the text that `name` stands for. */
export function compileReading(name: string, spot: Spot, scope: Scope): Read {
  const variable = scope.find(name, spot);
  const [form, options] = spot.isObject() ? spot.only(FORMS) : [spot.oneOf(['text', 'integer', 'json']), null];
  if (variable.type !== 'text' && !(form === 'integer' && variable.type === 'integer'))
    spot.fail(`{${name}} is no text here`);
  if (form === 'integer') return integer(variable, scope, options?.members(['min']).min.integer() ?? null);
  if (options === null) return simple(form, variable, scope);
  if (form === 'text') return text(variable, options, scope);
  if (form === 'list') return list(variable, options, scope);
  if (form === 'split') return split(variable, options, scope);
  return readMembers(variable, options, scope);
}

function simple(type: 'text' | 'json', variable: Variable, scope: Scope): Read {
  const slot = scope.redefine(variable.name, type);
  return present(variable, (given, { parts }) => {
    parts[slot] = given;
    return type === 'json' ? jsonProblem(given) : null;
  });
}

/** Also of lamport and site, which are integers from the start. */
function integer(variable: Variable, scope: Scope, min: number | null): Read {
  const slot = scope.redefine(variable.name, 'integer');
  const least = min === null ? null : BigInt(min);
  return (frame) => {
    const given = variable.get(frame);
    const read = typeof given === 'string' ? parseInt64(given) : given;
    if (typeof read !== 'bigint') return `${variable.name} is no 64-bit integer`;
    frame.parts[slot] = read;
    return least !== null && read < least ? `${variable.name} is below ${least}` : null;
  };
}

function text(variable: Variable, options: Spot, scope: Scope): Read {
  const { not_blank, empty_is_null, bytes_max } = options.members([], ['not_blank', 'empty_is_null', 'bytes_max']);
  const [filled, nullable] = [not_blank?.isTrue() ?? false, empty_is_null?.isTrue() ?? false];
  const bytesMax = bytes_max?.integer(1) ?? Infinity;
  const slot = scope.redefine(variable.name, 'text', nullable);
  return (frame) => {
    const given = variable.get(frame) as string | null;
    frame.parts[slot] = nullable && given === '' ? null : given;
    if (given === null) return nullable ? null : missing(variable);
    if (filled && given.trim() === '') return `${variable.name} is blank`;
    return Buffer.byteLength(given) > bytesMax ? `${variable.name} is longer than ${bytesMax} bytes` : null;
  };
}

/** Nothing is a list without texts; empty texts are passed over. */
function list(variable: Variable, options: Spot, scope: Scope): Read {
  const { by, count_max, bytes_max } = options.members(['by'], ['count_max', 'bytes_max']);
  const separator = by.filledText();
  const countMax = count_max?.integer(1) ?? LIST_COUNT_MAX;
  const bytesMax = bytes_max?.integer(1) ?? Infinity;
  const slot = scope.redefine(variable.name, 'list');
  return (frame) => {
    const given = (variable.get(frame) as string | null) ?? '';
    const texts = [...new Set(given.split(separator))].filter((one) => one !== '');
    frame.parts[slot] = texts;
    if (texts.length > countMax) return `${variable.name} names more than ${countMax}`;
    const long = texts.some((one) => Buffer.byteLength(one) > bytesMax);
    return long ? `${variable.name} names one of more than ${bytesMax} bytes` : null;
  };
}

/** Exactly these parts, none of them empty; but a last one with `...` is all that is left. */
function split(variable: Variable, options: Spot, scope: Scope): Read {
  const { by, into } = options.members(['by', 'into']);
  const separator = by.filledText();
  const names = into.filledItems();
  const takesRest = names.at(-1)?.text().endsWith('...') ?? false;
  const slots = names.map((name, at) => {
    const rest = takesRest && at === names.length - 1;
    return scope.define(rest ? name.text().slice(0, -3) : name.filledText(), name, 'text');
  });
  return present(variable, (given, { parts }) => {
    const pieces = given.split(separator);
    if (takesRest && pieces.length > names.length)
      pieces.splice(names.length - 1, Infinity, pieces.slice(names.length - 1).join(separator));
    if (pieces.length !== names.length) return `${variable.name} has ${pieces.length} parts, not ${names.length}`;
    const filled = takesRest ? pieces.slice(0, -1) : pieces;
    if (filled.includes('')) return `${variable.name} has an empty part`;
    for (const [at, slot] of slots.entries()) parts[slot] = pieces[at] as Part;
    return null;
  });
}

function present(variable: Variable, read: (given: string, frame: Frame) => string | null): Read {
  return (frame) => {
    const given = variable.get(frame) as string | null;
    return given === null ? missing(variable) : read(given, frame);
  };
}

const missing = (variable: Variable): string => `the ${variable.name} is missing`;
