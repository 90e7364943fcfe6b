import { Fault } from '@tidemark/libs-kernel';

const CUT = 'invalid json: unexpected end';

/** The Fault of a text that is no JSON: what was wrong, and at which offset (in UTF-16 units). */
export function refuseJson(text: string, at: number, what: string): never {
  if (at >= text.length) throw new Fault('malformed', `${CUT} at offset ${text.length}`);
  throw new Fault('malformed', `invalid json: ${what} at offset ${at}`);
}

/** Whether nothing is wrong with the refused text but that it ends too early. */
export function isCut(thrown: unknown): boolean {
  return thrown instanceof Fault && thrown.message.startsWith(CUT);
}
