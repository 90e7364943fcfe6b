import { Fault } from '@tidemark/libs-kernel';
import type { CellName } from './views.ts';

const SHOWN_UNITS_MAX = 100;

/** Why a store can never take the change; the same words in every store. What was written before it in the same call stays. */
export function changeFault(
  code: 'too_large' | 'invalid',
  { kind, id, field }: Pick<CellName, 'kind' | 'id' | 'field'>,
  why: string,
): Fault {
  return new Fault(code, `document ${shown(kind)} ${shown(id)}, field ${shown(field)}: ${why}`, { outcome: 'partly' });
}

function shown(name: string): string {
  return JSON.stringify(name.length > SHOWN_UNITS_MAX ? `${name.slice(0, SHOWN_UNITS_MAX)}…` : name);
}
