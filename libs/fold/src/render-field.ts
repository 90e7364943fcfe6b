import { Fault, compareUtf8 } from '@tidemark/libs-kernel';
import type { Field, Member, RegisterVersion } from '@tidemark/libs-views-contract';
import { parseInt64 } from '@tidemark/libs-wire';

/** What a reader is shown of a field. */
export interface RenderedField {
  /** JSON text. */
  readonly value: string;
  /** Which write it is; of several the newest that is present. */
  readonly version: RegisterVersion;
}

/**
 * One value of the present members of a field, the same for the same members whatever order a store gives them in. A register's value; a
 * set's elements, each once, by the UTF-8 bytes of their texts; a list's, by lamport, site and tag; of `latest` the value that is highest by
 * these three; the exact sum of a counter's sites, however long.
 */
export function renderField({ shape, members }: Field): RenderedField {
  const byAge = [...members].sort(compareAge);
  const newest = byAge.at(-1);
  if (newest === undefined) throw new Fault('internal', 'a field without members');
  const [, { value, version }] = newest;
  switch (shape) {
    case 'register':
    case 'latest':
      return { value, version };
    case 'set':
      return { value: `[${[...new Set(byAge.map(valueOf))].sort(compareUtf8).join()}]`, version };
    case 'list':
      return { value: `[${byAge.map(valueOf).join()}]`, version };
    case 'counter':
      return { value: String(byAge.reduce((sum, entry) => sum + totalOf(entry), 0n)), version };
  }
}

type Entry = readonly [tag: string, member: Member];

function compareAge([tagA, { version: a }]: Entry, [tagB, { version: b }]: Entry): number {
  if (a.lamport !== b.lamport) return a.lamport < b.lamport ? -1 : 1;
  if (a.site !== b.site) return a.site < b.site ? -1 : 1;
  return compareUtf8(tagA, tagB);
}

const valueOf = ([, { value }]: Entry): string => value;

/** The checks of reducers let nothing else into a counter. */
function totalOf([member, { value }]: Entry): bigint {
  const total = parseInt64(value);
  if (total === null) throw new Fault('corrupt', `the count of ${member} is no integer`);
  return total;
}
