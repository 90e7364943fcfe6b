import { asFault } from '@tidemark/libs-kernel';
import { jsonEnd } from '@tidemark/libs-wire';

/** Readers get values inside their answers as they stand, so a value must be one whole JSON document. Null when it is. */
export function jsonProblem(text: string): string | null {
  try {
    const end = jsonEnd(text);
    return /^[ \t\n\r]*$/.test(text.slice(end)) ? null : `invalid json: text after the value at offset ${end}`;
  } catch (thrown) {
    return asFault(thrown).message;
  }
}
