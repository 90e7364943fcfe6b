import { Fault } from '@tidemark/libs-kernel';

/**
 * UTF-8 bytes of the text. A lone surrogate has none, and the platform's encoders would turn all of them into U+FFFD, which makes two
 * ids one: it is a Fault 'invalid'. Our reader refuses such text, so none arrives from a body.
 */
export function utf8Bytes(text: string): Uint8Array {
  if (!text.isWellFormed()) throw loneSurrogate();
  return Buffer.from(text, 'utf8');
}

export function loneSurrogate(): Fault {
  return new Fault('invalid', 'the text holds a lone surrogate, which has no UTF-8 form');
}
