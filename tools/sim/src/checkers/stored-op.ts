import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import type { Op } from '@tidemark/libs-wire';

/**
 * An op as one text, equal for equal ops. From the op and, by the table's published layout, from its item: nothing of the code under test
 * is used, so that a mistake in it cannot hide itself.
 */
export function opText(op: Op): string {
  return JSON.stringify([
    op.envelopeVersion,
    op.opId,
    String(op.lamport),
    String(op.site),
    op.domain,
    op.targetKind,
    op.targetId,
    op.field,
    op.opType,
    op.value,
    op.author,
    op.wallClock,
    op.extra,
  ]);
}

export function itemOpText(item: Readonly<Record<string, AttributeValue>>): string {
  const text = (name: string) => item[name]?.S;
  return JSON.stringify([
    Number(item['envelope_version']?.N),
    text('op_id'),
    item['lamport']?.N,
    item['site']?.N,
    text('domain'),
    text('target_kind'),
    text('target_id'),
    text('field'),
    text('op_type'),
    text('value') ?? null,
    text('author'),
    text('wall_clock'),
    text('extra') ?? '{}',
  ]);
}

/** The same op as an item of the table: for actors that are relays of another make. */
export function rawOpItem(stream: string, seq: bigint, op: Op): Record<string, AttributeValue> {
  return {
    stream_id: { S: stream },
    seq: { N: String(seq) },
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

/** An op of the table, as a reader of another make takes it. */
export function itemOp(item: Readonly<Record<string, AttributeValue>>): Op {
  const text = (name: string) => item[name]?.S ?? '';
  return {
    envelopeVersion: Number(item['envelope_version']?.N),
    opId: text('op_id'),
    lamport: BigInt(item['lamport']?.N ?? ''),
    site: BigInt(item['site']?.N ?? ''),
    domain: text('domain'),
    targetKind: text('target_kind'),
    targetId: text('target_id'),
    field: text('field'),
    opType: text('op_type'),
    value: item['value']?.S ?? null,
    author: text('author'),
    wallClock: text('wall_clock'),
    extra: item['extra']?.S ?? '{}',
  };
}
