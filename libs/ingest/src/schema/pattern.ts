import { type Assertion, type PatternNode, parsePattern } from './pattern-parse.ts';

/** Of a pattern, after counts such as {2,5} were written out. */
const STEPS_MAX = 2000;
/** Choices that the language's own matcher may have to try, at most. */
const TRIES_MAX = 100_000;

interface SetStep {
  readonly kind: 'set';
  readonly has: (point: string) => boolean;
}

type Step =
  | SetStep
  | { readonly kind: 'assert'; readonly what: Assertion }
  /** Goes on at both. */
  | { readonly kind: 'fork'; one: number; other: number }
  | { readonly kind: 'end' };

/**
 * A pattern of a schema. Records come from anybody, and the language's own matcher can be kept busy for years by some thirty characters. So
 * it is asked only where it has little to choose; otherwise all ways are followed side by side, which takes a time that grows with the
 * text alone. Look-around and references to groups cannot be judged like that, and are refused.
 */
export class Pattern {
  readonly #source: string;
  readonly #own: RegExp;
  readonly #triesOf: (length: number) => number;
  readonly #steps: readonly Step[];

  constructor(source: string) {
    const node = parsePattern(source);
    this.#source = source;
    this.#own = new RegExp(source, 'u');
    this.#triesOf = (length) => length * length * choicesOf(node, length);
    this.#steps = [...stepsOf(node, []), { kind: 'end' }];
  }

  test(text: string): boolean {
    return this.#triesOf(text.length) <= TRIES_MAX ? this.#own.test(text) : follow(this.#steps, text);
  }

  /** The schema engine knows patterns by it. */
  toString(): string {
    return `/${this.#source}/u`;
  }
}

/** In how many ways it may try to fit a text; of a repetition of something that has choices itself nobody can say. */
function choicesOf(node: PatternNode, length: number): number {
  switch (node.kind) {
    case 'set':
    case 'assert':
      return 1;
    case 'seq':
      return node.parts.reduce((ways, part) => ways * choicesOf(part, length), 1);
    case 'choice':
      return node.arms.reduce((ways, arm) => ways + choicesOf(arm, length), 0);
    case 'repeat': {
      const counts = Math.min(node.max, length) - node.min + 1;
      return choicesOf(node.of, length) === 1
        ? Math.max(1, counts)
        : node.max <= 1
          ? choicesOf(node.of, length) + 1
          : Infinity;
    }
  }
}

/** Appends the steps of a node; each goes on at the one behind it. */
function stepsOf(node: PatternNode, steps: Step[]): Step[] {
  if (steps.length > STEPS_MAX) throw new Error(`a pattern of more than ${STEPS_MAX} steps`);
  if (node.kind === 'set') steps.push({ kind: 'set', has: membershipOf(node.source) });
  else if (node.kind === 'assert') steps.push(node);
  else if (node.kind === 'seq') for (const part of node.parts) stepsOf(part, steps);
  else if (node.kind === 'choice') choose(node.arms, steps);
  else repeat(node, steps);
  return steps;
}

function choose([first, ...others]: readonly PatternNode[], steps: Step[]): void {
  if (others.length === 0) return void stepsOf(first!, steps);
  const fork = { kind: 'fork' as const, one: steps.length + 1, other: 0 };
  steps.push(fork);
  stepsOf(first!, steps);
  const over = { kind: 'fork' as const, one: 0, other: 0 };
  steps.push(over);
  fork.other = steps.length;
  choose(others, steps);
  over.one = over.other = steps.length;
}

function repeat({ of, min, max }: Extract<PatternNode, { kind: 'repeat' }>, steps: Step[]): void {
  for (let n = 0; n < min; n++) stepsOf(of, steps);
  const optional = max === Infinity ? 1 : max - min;
  const forks: { kind: 'fork'; one: number; other: number }[] = [];
  for (let n = 0; n < optional; n++) {
    const fork = { kind: 'fork' as const, one: steps.length + 1, other: 0 };
    forks.push(fork);
    steps.push(fork);
    stepsOf(of, steps);
    if (max === Infinity) steps.push({ kind: 'fork', one: steps.indexOf(fork), other: steps.indexOf(fork) });
  }
  for (const fork of forks) fork.other = steps.length;
}

/** Whether a code point is one of them: by the language, once for each of ASCII. */
function membershipOf(source: string): (point: string) => boolean {
  const own = new RegExp(`^(?:${source})$`, 'u');
  const ascii: (boolean | undefined)[] = [];
  return (point) => {
    const code = point.charCodeAt(0);
    return code < 128 ? (ascii[code] ??= own.test(point)) : own.test(point);
  };
}

/** All ways through the steps at the same time; a step is looked at once for each code point. */
function follow(steps: readonly Step[], text: string): boolean {
  const seen = new Int32Array(steps.length).fill(-1);
  let before = '';
  let arrived: number[] = [];
  for (let at = 0; ;) {
    const point = at < text.length ? String.fromCodePoint(text.codePointAt(at)!) : '';
    const waiting: number[] = [];
    // A text may begin to fit at any place.
    for (const open = [0, ...arrived]; open.length > 0;) {
      const step = open.pop()!;
      if (seen[step] === at) continue;
      seen[step] = at;
      const now = steps[step]!;
      if (now.kind === 'end') return true;
      if (now.kind === 'set') waiting.push(step);
      else if (now.kind === 'fork') open.push(now.other, now.one);
      else if (holds(now.what, before, point)) open.push(step + 1);
    }
    if (point === '') return false;
    arrived = [];
    for (const step of waiting) if ((steps[step] as SetStep).has(point)) arrived.push(step + 1);
    before = point;
    at += point.length;
  }
}

const isWord = (point: string): boolean => /^[A-Za-z0-9_]$/.test(point);

function holds(what: Assertion, before: string, point: string): boolean {
  if (what === 'start') return before === '';
  if (what === 'end') return point === '';
  return (isWord(before) !== isWord(point)) === (what === 'word');
}
