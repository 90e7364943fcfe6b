import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { Fault } from '@tidemark/libs-kernel';
import type { SequencedOp } from '@tidemark/libs-op-store-contract';
import { claimSeq, type Op, parseInt64 } from '@tidemark/libs-wire';

/** One row of the ops table. Below seq 0 stand claims, at 0 the counter, above it ops. */
export type Item = Readonly<Record<string, AttributeValue>>;

export interface Claim {
  readonly opId: string;
  /** Where that op is stored. */
  readonly opSeq: bigint;
}

export interface Counter {
  /** Highest seq handed out; 0 where there is no counter yet. */
  readonly next: bigint;
  /** Ops up to here were removed by a truncation; 0 where there was none. */
  readonly truncatedThrough: bigint;
}

export const COUNTER_SEQ = 0n;

export function itemKey(stream: string, seq: bigint): Item {
  return { stream_id: { S: stream }, seq: { N: String(seq) } };
}

/** A null value, and the passthrough of an op that has none, are attributes left out. */
export function opItem(stream: string, seq: bigint, op: Op): Item {
  return {
    ...itemKey(stream, seq),
    envelope_version: { N: String(op.envelopeVersion) },
    op_id: { S: op.opId },
    lamport: { N: String(op.lamport) },
    site: { N: String(op.site) },
    domain: { S: op.domain },
    target_kind: { S: op.targetKind },
    target_id: { S: op.targetId },
    field: { S: op.field },
    op_type: { S: op.opType },
    ...(op.value === null ? {} : { value: { S: op.value } }),
    author: { S: op.author },
    wall_clock: { S: op.wallClock },
    ...(op.extra === '{}' ? {} : { extra: { S: op.extra } }),
  };
}

export function claimItem(stream: string, opId: string, opSeq: bigint): Item {
  return { ...itemKey(stream, claimSeq(opId)), op_id: { S: opId }, op_seq: { N: String(opSeq) } };
}

/** Fault `corrupt`, naming the table's row and the attribute, when the item is no op of this protocol. */
export function toSequencedOp(item: Item): SequencedOp {
  const row = new Row(item);
  return {
    seq: row.integer('seq'),
    op: {
      envelopeVersion: row.version('envelope_version'),
      opId: row.text('op_id'),
      lamport: row.integer('lamport'),
      site: row.integer('site'),
      domain: row.text('domain'),
      targetKind: row.text('target_kind'),
      targetId: row.text('target_id'),
      field: row.text('field'),
      opType: row.text('op_type'),
      value: row.has('value') ? row.text('value') : null,
      author: row.text('author'),
      wallClock: row.text('wall_clock'),
      extra: row.has('extra') ? row.objectText('extra') : '{}',
    },
  };
}

/** Fault `corrupt` when it is none. */
export function toClaim(item: Item): Claim {
  const row = new Row(item);
  return { opId: row.text('op_id'), opSeq: row.integer('op_seq') };
}

/** Fault `corrupt` when a number is none, or negative, and so could name the place of a claim. */
export function toCounter(item: Item | undefined): Counter {
  if (item === undefined) return { next: 0n, truncatedThrough: 0n };
  const row = new Row(item);
  return { next: row.count('next_seq'), truncatedThrough: row.count('truncated_through') };
}

export function toSeq(item: Item): bigint {
  return new Row(item).integer('seq');
}

class Row {
  readonly #item: Item;

  constructor(item: Item) {
    this.#item = item;
  }

  has(attribute: string): boolean {
    return this.#item[attribute] !== undefined;
  }

  text(attribute: string): string {
    const text = this.#item[attribute]?.S;
    if (text === undefined) throw this.#corrupt(attribute, 'a text');
    return text;
  }

  integer(attribute: string): bigint {
    const value = parseInt64(this.#item[attribute]?.N ?? '');
    if (value === null) throw this.#corrupt(attribute, 'a 64-bit integer');
    return value;
  }

  version(attribute: string): number {
    const value = this.integer(attribute);
    if (value < 0n || value > 65_535n) throw this.#corrupt(attribute, 'a version');
    return Number(value);
  }

  /** 0 when it is not there. */
  count(attribute: string): bigint {
    const value = this.has(attribute) ? this.integer(attribute) : 0n;
    if (value < 0n) throw this.#corrupt(attribute, 'a seq');
    return value;
  }

  /** Only whether it is one is looked at: it is served as it stands. */
  objectText(attribute: string): string {
    const text = this.text(attribute);
    if (!isObjectText(text)) throw this.#corrupt(attribute, 'a JSON object');
    return text;
  }

  #corrupt(attribute: string, wanted: string): Fault {
    const [stream, seq] = [this.#item['stream_id']?.S, this.#item['seq']?.N];
    const where = `stream ${JSON.stringify(stream ?? '?')}, seq ${seq ?? '?'}`;
    return new Fault('corrupt', `${where}: the stored ${attribute} is not ${wanted}`);
  }
}

function isObjectText(text: string): boolean {
  // A text that begins like an object and is JSON is one.
  if (!text.trimStart().startsWith('{')) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
