import { compareUtf8 } from '@tidemark/libs-kernel';
import type { SequencedOp } from '@tidemark/libs-op-store-contract';
import type { Op } from '@tidemark/libs-wire';

/** By `kind/id`, then by field. */
export type Folded = Record<string, Record<string, unknown>>;

/**
 * What docs/examples/tasks.json must fold a log to, told a second time and another way: no machine, no cells, no order of arrival. Every
 * rule looks at the whole log and says what is there.
 */
export function canonicalFold(log: readonly SequencedOp[]): Folded {
  const folded = log.filter(({ op }) => op.lamport <= 2n ** 62n);
  const documents: Folded = {};
  const put = (document: string, field: string, value: unknown) => ((documents[document] ??= {})[field] = value);
  registers(folded, put);
  sets(folded, put);
  return documents;
}

type Put = (document: string, field: string, value: unknown) => void;
type At = { readonly op: Op; readonly seq: bigint };

const US = '\u001f';
const RS = '\u001e';

const ITEM_FIELDS =
  'type title completion_criterion description design status priority due defer_until assignee closing_comment deleted archived closed_at'.split(
    ' ',
  );
const EDGES = ['dep', 'contributes_to', 'mentions', 'parent'];
const CHANNEL_FIELDS = ['name', 'kind', 'origin'];
const PROFILE_FIELDS = 'job_title job_description capability_tags runtime_binding reports_to origin'.split(' ');
const THREAD_FIELDS = ['expects_reply_from', 'deadline', 'name', 'machine'];

/** A write of a register: the one with the best version is shown. */
interface Write extends At {
  readonly document: string;
  readonly field: string;
  readonly value: unknown;
  readonly wins: 'highest' | 'lowest';
  readonly rank?: number;
}

function registers(log: readonly At[], put: Put): void {
  const writes = log.flatMap((at) => registerWrites(at.op).map((write): Write => ({ ...at, ...write })));
  for (const { document, field } of writes) {
    const rivals = writes.filter((write) => write.document === document && write.field === field);
    const best = rivals.reduce((a, b) => (older(a, b) === (a.wins === 'lowest') || tied(a, b) ? firstOf(a, b) : b));
    put(document, field, best.value);
  }
}

const versionOf = ({ op, rank = 0 }: Write) => [BigInt(rank), op.lamport, op.site] as const;
const tied = (a: Write, b: Write) => versionOf(a).join() === versionOf(b).join();

function older(a: Write, b: Write): boolean {
  const [x, y] = [versionOf(a), versionOf(b)];
  const at = x.findIndex((part, i) => part !== y[i]);
  return at >= 0 && (x[at] as bigint) < (y[at] as bigint);
}

/** Of two writes with one version that of the lower seq; else the given first. */
const firstOf = (a: Write, b: Write): Write => (tied(a, b) && b.seq < a.seq ? b : a);

function registerWrites(op: Op): Pick<Write, 'document' | 'field' | 'value' | 'wins' | 'rank'>[] {
  const { targetId: id, field, value, author, wallClock } = op;
  const highest = (document: string, name: string, written: unknown) =>
    ({ document, field: name, value: written, wins: 'highest' }) as const;
  const stamps = (item: string) => [
    { document: `item/${item}`, field: 'created', value: wallClock, wins: 'lowest' } as const,
    highest(`item/${item}`, 'updated', wallClock),
  ];
  const rank = id === `m-${op.opId}` ? 0 : 1;
  switch (`${op.domain} ${op.targetKind} ${op.opType}`) {
    case 'task item set':
    case 'task item set:crdt-text':
      return ITEM_FIELDS.includes(field) ? [highest(`item/${id}`, field, value), ...stamps(id)] : [];
    case 'task field set':
    case 'task field set:crdt-text':
      return field === '' ? [] : [highest(`item/${id}`, `custom.${field}`, value === '' ? null : value), ...stamps(id)];
    case 'task note note_add':
      return stamps(id);
    case 'message message post': {
      const envelope = attributed(op) ? parsed(value) : null;
      const texts = ['origin', 'channel_id', 'kind', 'priority', 'disposition', 'body'];
      if (!envelope || texts.some((name) => typeof envelope[name] !== 'string')) return [];
      const { thread_id = null, refs = null } = envelope;
      if (thread_id !== null && typeof thread_id !== 'string') return [];
      const named = Object.fromEntries(texts.map((name) => [name, envelope[name]]));
      const message = { ...named, thread_id, refs, sender: author, created: wallClock };
      return [{ document: `message/${id}`, field: 'message', value: message, wins: 'lowest', rank }];
    }
    case 'message thread open': {
      const root = attributed(op) ? parsed(value) : null;
      if (!root || ['origin', 'channel_id', 'created'].some((name) => typeof root[name] !== 'string')) return [];
      const { origin, channel_id, created, parent = null } = root;
      const opened = { origin, channel_id, opener: author, created, parent };
      return [{ document: `thread/${id}`, field: 'root', value: opened, wins: 'lowest', rank }];
    }
    case 'message channel set':
      return CHANNEL_FIELDS.includes(field) ? [highest(`channel/${id}`, field, value)] : [];
    case 'message profile set':
      return PROFILE_FIELDS.includes(field) ? [highest(`profile/${id}`, field, value)] : [];
    case 'message thread set':
      return THREAD_FIELDS.includes(field) ? [highest(`thread/${id}`, field, value)] : [];
    case 'fact fact set':
    case 'fact fact forget': {
      const active = op.opType === 'set';
      if (active && value === null) return [];
      const fact = { body: active ? value : '', author, updated: wallClock, active };
      const created = { document: `fact/${id}`, field: 'created', value: wallClock, wins: 'lowest' } as const;
      return [highest(`fact/${id}`, 'fact', fact), created];
    }
    case 'fact classification set':
      if (field === 'ordinal') return /^\d+$/.test(value ?? '') ? [highest(`fact/${id}`, field, Number(value))] : [];
      return ['category', 'scope', 'refs', 'introduction'].includes(field) ? [highest(`fact/${id}`, field, value)] : [];
    default:
      return [];
  }
}

const attributed = ({ lamport, author }: Op): boolean => lamport >= 1n && author.trim() !== '';

function parsed(text: string | null): Record<string, unknown> | null {
  try {
    return JSON.parse(text ?? '') as Record<string, unknown>;
  } catch {
    return null;
  }
}

/** An element that an op adds to a place, with the op's id for its tag. */
interface Add extends At {
  readonly place: string;
  readonly element: unknown;
}

interface Remove {
  readonly place: string;
  readonly tags: readonly string[];
}

function sets(log: readonly At[], put: Put): void {
  const adds = log.flatMap((at) => addsOf(at.op).map((add): Add => ({ ...at, ...add })));
  const gone = new Set(
    log.flatMap(({ op }) => removesOf(op)).flatMap(({ place, tags }) => tags.map((tag) => `${place} ${tag}`)),
  );
  const there = adds.filter(({ place, op }) => !gone.has(`${place} ${op.opId}`));
  for (const { place } of there) {
    const [document = '', field = ''] = place.split(RS);
    // An op id that is used again means its lowest version, then its lowest seq.
    const here = there.filter((add) => add.place === place).sort(byAge);
    const present = here.filter((add, at) => here.findIndex(({ op }) => op.opId === add.op.opId) === at);
    put(document, field, shown(field, present));
  }
}

function shown(field: string, present: readonly Add[]): unknown {
  const elements = present.toSorted(byAgeAndTag).map(({ element }) => element);
  if (field === 'chunks') return elements;
  if (field === 'note' || field === 'parent' || field.startsWith('thread.')) return elements.at(-1);
  return [...new Set(elements as string[])].sort((a, b) => compareUtf8(JSON.stringify(a), JSON.stringify(b)));
}

const order = (a: bigint, b: bigint): number => (a < b ? -1 : a > b ? 1 : 0);
const byVersion = (a: Add, b: Add) => order(a.op.lamport, b.op.lamport) || order(a.op.site, b.op.site);
const byAge = (a: Add, b: Add) => byVersion(a, b) || order(a.seq, b.seq);
const byAgeAndTag = (a: Add, b: Add) => byVersion(a, b) || compareUtf8(a.op.opId, b.op.opId);

function addsOf(op: Op): Pick<Add, 'place' | 'element'>[] {
  const { targetId: id, value, author, wallClock } = op;
  const parts = partsOf(id);
  const piece = { author, body: value, created: wallClock };
  switch (`${op.domain} ${op.targetKind} ${op.opType}`) {
    case 'task edge add':
    case 'task label add':
    case 'task thread_link add':
    case 'message membership add':
      return placeOf(op).map((place) => ({
        place,
        element: op.targetKind === 'thread_link' ? { relation: parts[2], weight: parts[3] } : parts[1],
      }));
    case 'task note note_add':
      return [{ place: placeIn(`note/${op.opId}`, 'note'), element: { ...piece, item: id } }];
    case 'task chunk append':
      return value === null ? [] : placeOf(op).map((place) => ({ place, element: piece }));
    case 'task chunk supersede': {
      const [ids, ...body] = (value ?? '').split(RS);
      if (!ids || body.length === 0) return [];
      return placeOf(op).map((place) => ({ place, element: { ...piece, body: body.join(RS) } }));
    }
    default:
      return [];
  }
}

function removesOf(op: Op): Remove[] {
  switch (`${op.domain} ${op.targetKind} ${op.opType}`) {
    case 'task edge remove':
    case 'task label remove':
    case 'task thread_link remove':
    case 'message membership remove':
      return placeOf(op).map((place) => ({ place, tags: (op.value ?? '').split(US) }));
    case 'task note set':
      return op.field === 'deleted' ? [{ place: placeIn(`note/${op.targetId}`, 'note'), tags: [op.targetId] }] : [];
    case 'task chunk supersede': {
      const [ids, ...body] = (op.value ?? '').split(RS);
      return !ids || body.length === 0 ? [] : placeOf(op).map((place) => ({ place, tags: ids.split(US) }));
    }
    default:
      return [];
  }
}

const placeIn = (document: string, field: string): string => document + RS + field;
const partsOf = (targetId: string): readonly string[] => targetId.split(US);

/** Where an op adds or removes; nowhere when its target is not what it must be. */
function placeOf({ targetKind, targetId, field, opType }: Op): string[] {
  const parts = partsOf(targetId);
  const [a, b, c, d] = parts;
  const whole = (count: number) => parts.length === count && !parts.includes('');
  switch (targetKind) {
    case 'edge':
      return whole(3) && EDGES.includes(c!) ? [placeIn(`item/${a}`, c!)] : [];
    case 'label':
      return whole(2) ? [placeIn(`item/${a}`, 'labels')] : [];
    case 'membership':
      return whole(2) ? [placeIn(`channel/${a}`, 'members')] : [];
    case 'thread_link': {
      const known = ['worked_on', 'cited'].includes(c!) && ['bearing', 'passing'].includes(d!);
      return whole(4) && (known || opType === 'remove') ? [placeIn(`item/${b}`, `thread.${a}`)] : [];
    }
    default:
      return [placeIn(`chunked/${targetId}${US}${field}`, 'chunks')];
  }
}
