import { Fault } from '@tidemark/libs-kernel';

/** What is stored cannot be read. */
export function isCorrupt(thrown: unknown): thrown is Fault {
  return thrown instanceof Fault && thrown.code === 'corrupt';
}
