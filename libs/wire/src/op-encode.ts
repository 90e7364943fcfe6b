import type { Op } from './op.ts';
import { extraMembers } from './op-extra.ts';
import { quoteJson } from './json-write.ts';
import { Utf8Bytes } from './utf8-bytes.ts';

/** About what the field names, quotes and numbers of an op take. */
const OP_FRAME_BYTES = 180;

/**
 * One op as compact JSON: fields in their fixed order, `domain` left out when it is `task`, `value` always sent, then the unknown
 * fields. Fault 'corrupt' when the stored extra is no JSON object.
 */
export function encodeOp(op: Op): string {
  const domain = op.domain === 'task' ? '' : `"domain":${quoteJson(op.domain)},`;
  const value = op.value === null ? 'null' : quoteJson(op.value);
  return (
    `{"envelope_version":${op.envelopeVersion},"op_id":${quoteJson(op.opId)},"lamport":${op.lamport},"site":${op.site},` +
    `${domain}"target_kind":${quoteJson(op.targetKind)},"target_id":${quoteJson(op.targetId)},` +
    `"field":${quoteJson(op.field)},"op_type":${quoteJson(op.opType)},"value":${value},` +
    `"author":${quoteJson(op.author)},"wall_clock":${quoteJson(op.wallClock)}${extraMembers(op.extra)}}`
  );
}

/** The answer to a pull, as UTF-8: ops in seq order and the cursor to go on from. */
export function encodePage(ops: readonly Op[], next: bigint): Buffer {
  const bytes = new Utf8Bytes(64 + 2 * OP_FRAME_BYTES * ops.length);
  bytes.add('{"ops":[');
  ops.forEach((op, at) => bytes.add(at === 0 ? encodeOp(op) : `,${encodeOp(op)}`));
  bytes.add(`],"next":${next}}`);
  return bytes.taken();
}

/** The body of a push, as a client sends it. */
export function encodePush(ops: readonly Op[]): string {
  // Appending to one string is a third quicker than joining many.
  let text = '';
  for (const op of ops) text += text === '' ? encodeOp(op) : `,${encodeOp(op)}`;
  return `{"ops":[${text}]}`;
}

/** About how many bytes encodeOp's text takes; escapes are not counted. Cheap: no text is built. */
export function opTextBytes(op: Op): number {
  return (
    OP_FRAME_BYTES +
    Buffer.byteLength(op.opId) +
    Buffer.byteLength(op.domain) +
    Buffer.byteLength(op.targetKind) +
    Buffer.byteLength(op.targetId) +
    Buffer.byteLength(op.field) +
    Buffer.byteLength(op.opType) +
    (op.value === null ? 0 : Buffer.byteLength(op.value)) +
    Buffer.byteLength(op.author) +
    Buffer.byteLength(op.wallClock) +
    Buffer.byteLength(op.extra)
  );
}
