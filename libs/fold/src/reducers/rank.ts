import type { Frame, Scope } from './scope.ts';
import type { Spot } from './spot.ts';
import { loneVariable, parseTemplate, textOf } from './template.ts';

/** A constant, an integer of the op, or one of two constants. */
export function compileRank(spot: Spot, scope: Scope): (frame: Frame) => bigint {
  if (spot.isObject()) return oneOfTwo(spot, scope);
  if (typeof spot.value !== 'string') {
    const constant = BigInt(spot.integer());
    return () => constant;
  }
  const variable = loneVariable(parseTemplate(spot, scope));
  if (variable?.type !== 'integer') spot.fail('expected one name, which `read` makes an integer');
  if (variable.nullable) spot.fail(`{${variable.name}} may be null here`);
  return (frame) => variable.get(frame) as bigint;
}

function oneOfTwo(spot: Spot, scope: Scope): (frame: Frame) => bigint {
  const members = spot.members(['equal', 'then', 'else']);
  const [a, b, ...more] = members.equal.items().map((side) => textOf(side, parseTemplate(side, scope)));
  if (a === undefined || b === undefined || more.length > 0) return members.equal.fail('expected two texts');
  const [whenEqual, otherwise] = [BigInt(members.then.integer()), BigInt(members.else.integer())];
  return (frame) => (a(frame) === b(frame) ? whenEqual : otherwise);
}
