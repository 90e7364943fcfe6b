import { Fault } from '@tidemark/libs-kernel';
import type { Op } from '@tidemark/libs-wire';

/** DynamoDB's bound of one item, inclusive: names and values together, keys among them. */
export const ITEM_BYTES_MAX = 400 * 1024;

/** DynamoDB's bound of a stream's id, a partition key. */
export const STREAM_ID_BYTES_MAX = 2048;

/** The key's two names, and a seq of any length. */
const KEY_FRAME_BYTES = utf8('stream_id') + utf8('seq') + 12;
const OP_NAMES = 'envelope_versionop_idlamportsitedomaintarget_kindtarget_idfieldop_typeauthorwall_clock';
const OP_FRAME_BYTES = KEY_FRAME_BYTES + utf8(OP_NAMES);
const CLAIM_FRAME_BYTES = KEY_FRAME_BYTES + utf8('op_idop_seq') + 12;

/** What the op's item takes, as DynamoDB counts it; at most some bytes more, because no seq is known yet. Never less. */
export function opItemBytes(stream: string, op: Op): number {
  return utf8(stream) + ownBytes(op);
}

/** The same of the op's claim. */
export function claimItemBytes(stream: string, op: Op): number {
  return utf8(stream) + CLAIM_FRAME_BYTES + utf8(op.opId);
}

/** Longer ids of streams are rare, and leave less room to an op: {@link fittingOf}. */
const USUAL_STREAM_ID_BYTES = 200;

/** Fault `too_large` for an op that fits no item, whatever the stream's id; some of up to 212 bytes less are among them (RLY-12). */
export function refusalOf(op: Op): Fault | null {
  return ownBytes(op) + USUAL_STREAM_ID_BYTES > ITEM_BYTES_MAX ? tooLarge(op) : null;
}

/** The ops up to the first that fits no item of this stream, and the fault `too_large` of that one; null when all fit. */
export function fittingOf(
  stream: string,
  ops: readonly Op[],
): { readonly fitting: readonly Op[]; readonly tooLarge: Fault | null } {
  const at = ops.findIndex((op) => opItemBytes(stream, op) > ITEM_BYTES_MAX);
  return at === -1
    ? { fitting: ops, tooLarge: null }
    : { fitting: ops.slice(0, at), tooLarge: tooLarge(ops[at] as Op) };
}

const SHOWN_UNITS_MAX = 100;

function tooLarge({ opId }: Op): Fault {
  const shown = JSON.stringify(opId.length > SHOWN_UNITS_MAX ? `${opId.slice(0, SHOWN_UNITS_MAX)}…` : opId);
  return new Fault('too_large', `op ${shown}: it takes more than the ${ITEM_BYTES_MAX} bytes of a DynamoDB item`);
}

function ownBytes(op: Op): number {
  return (
    OP_FRAME_BYTES +
    numberBytes(String(op.envelopeVersion)) +
    utf8(op.opId) +
    numberBytes(String(op.lamport)) +
    numberBytes(String(op.site)) +
    utf8(op.domain) +
    utf8(op.targetKind) +
    utf8(op.targetId) +
    utf8(op.field) +
    utf8(op.opType) +
    (op.value === null ? 0 : utf8('value') + utf8(op.value)) +
    utf8(op.author) +
    utf8(op.wallClock) +
    (op.extra === '{}' ? 0 : utf8('extra') + utf8(op.extra))
  );
}

/**
 * DynamoDB keeps two significant digits in a byte, one byte beside them, and one for a sign. Its pairs of digits are counted from the
 * decimal point, so that the zeros at the end leave one digit more at times.
 */
export function numberBytes(text: string): number {
  const digits = text.replace(/^-?0*/, '').replace(/0+$/, '').length;
  return Math.ceil((digits + 1) / 2) + 1 + (text.startsWith('-') ? 1 : 0);
}

function utf8(text: string): number {
  return Buffer.byteLength(text);
}
