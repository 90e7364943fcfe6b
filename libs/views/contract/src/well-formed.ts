import { Fault } from '@tidemark/libs-kernel';
import { changeFault } from './change-fault.ts';
import type { ViewChange } from './views.ts';

/**
 * A lone surrogate has no UTF-8 form: a store would keep another text, and two names would become one. Throws `invalid`, before anything of
 * the call is written.
 */
export function assertWellFormed(stream: string, changes: readonly ViewChange[]): void {
  assertStream(stream);
  for (const change of changes) {
    const { kind, id, field, member } = change;
    const isFine =
      kind.isWellFormed() &&
      id.isWellFormed() &&
      field.isWellFormed() &&
      member.isWellFormed() &&
      (change.effect === 'remove' || change.value.isWellFormed());
    if (!isFine) throw changeFault('invalid', change, 'a lone surrogate cannot be stored');
  }
}

export function assertStream(stream: string): void {
  if (!stream.isWellFormed())
    throw new Fault('invalid', `stream ${JSON.stringify(stream)}: a lone surrogate cannot be stored`);
}
