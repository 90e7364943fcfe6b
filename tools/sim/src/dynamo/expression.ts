import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { invalid } from './errors.ts';
import { type Comparison, type Condition, type Operand, parseUpdate } from './expression-parser.ts';
import { compareValues, integer, type Item, sizeOf, valuesEqual } from './item.ts';

export { type Assignment, type Condition, type Operand, parseCondition, parseUpdate } from './expression-parser.ts';

/** What stands beside an expression in a command. */
export interface Placeholders {
  readonly ExpressionAttributeNames?: Record<string, string> | undefined;
  readonly ExpressionAttributeValues?: Record<string, AttributeValue> | undefined;
}

/** Whether the condition holds on the item; a missing attribute compares with nothing. */
export function holds(condition: Condition, item: Item | null, given: Placeholders): boolean {
  switch (condition.kind) {
    case 'and':
      return holds(condition.left, item, given) && holds(condition.right, item, given);
    case 'or':
      return holds(condition.left, item, given) || holds(condition.right, item, given);
    case 'not':
      return !holds(condition.inner, item, given);
    case 'exists':
      return valueOf(condition.path, item, given) !== undefined;
    case 'not-exists':
      return valueOf(condition.path, item, given) === undefined;
    case 'begins': {
      const [text, start] = [valueOf(condition.path, item, given)?.S, valueOf(condition.value, item, given)?.S];
      return text !== undefined && start !== undefined && text.startsWith(start);
    }
    case 'contains': {
      const [whole, part] = [valueOf(condition.path, item, given), valueOf(condition.value, item, given)];
      if (part?.S === undefined) return false;
      return whole?.S?.includes(part.S) ?? whole?.SS?.includes(part.S) ?? false;
    }
    case 'in':
      return condition.among.some((one) => compares(condition.value, '=', one, item, given));
    case 'compare':
      return compares(condition.left, condition.by, condition.right, item, given);
    case 'between':
      return (
        compares(condition.value, '>=', condition.low, item, given) &&
        compares(condition.value, '<=', condition.high, item, given)
      );
  }
}

/** The item after the update; `key` holds the attributes of an item that is not there yet. All values are of the item before it. */
export function updated(text: string, item: Item | null, key: Item, given: Placeholders): Item {
  let after: Item = item ?? key;
  for (const assignment of parseUpdate(text)) {
    const path = pathOf(assignment.path, given);
    if (assignment.by === 'remove') {
      after = replaced(after, path, undefined);
      continue;
    }
    const operand = valueOf(assignment.value, item, given);
    if (operand === undefined)
      throw invalid('The provided expression refers to an attribute that does not exist in the item');
    const old = at(item, path);
    const value =
      assignment.by === 'set' ? operand : assignment.by === 'add' ? added(old, operand) : without(old, operand);
    after = replaced(after, path, value);
  }
  return after;
}

/** The name of a whole attribute. */
export function nameOf(path: Operand, given: Placeholders): string {
  const names = pathOf(path, given);
  if (names.length !== 1) throw new Error(`the simulated DynamoDB takes whole attributes alone here`);
  return names[0] as string;
}

export function valueOf(operand: Operand, item: Item | null, given: Placeholders): AttributeValue | undefined {
  switch (operand.kind) {
    case 'path':
      return at(item, pathOf(operand, given));
    case 'value': {
      const value = given.ExpressionAttributeValues?.[operand.text];
      if (value === undefined) throw new Error(`${operand.text} is not among the values`);
      return value;
    }
    case 'size': {
      const value = valueOf(operand.path, item, given);
      return value === undefined ? undefined : { N: String(sizeOf(value)) };
    }
    case 'if_not_exists':
      return valueOf(operand.path, item, given) ?? valueOf(operand.otherwise, item, given);
    case 'plus':
    case 'minus': {
      const [left, right] = [valueOf(operand.left, item, given), valueOf(operand.right, item, given)];
      if (left === undefined || right === undefined) return undefined;
      const [a, b] = [integer(left.N ?? ''), integer(right.N ?? '')];
      return { N: String(operand.kind === 'plus' ? a + b : a - b) };
    }
  }
}

/** The names on the way to a value, outermost first. */
function pathOf(path: Operand, given: Placeholders): readonly string[] {
  if (path.kind !== 'path') throw new Error('no path stands where one must');
  return path.text.split('.').map((part) => {
    if (!part.startsWith('#')) return part;
    const name = given.ExpressionAttributeNames?.[part];
    if (name === undefined) throw new Error(`${part} is not among the names`);
    return name;
  });
}

function at(item: Item | null, path: readonly string[]): AttributeValue | undefined {
  let value: AttributeValue | undefined = item === null ? undefined : { M: item };
  for (const name of path) value = value?.M?.[name];
  return value;
}

/** The item with another value at the path, or without one; the maps on the way must be there. */
function replaced(item: Item, [name, ...rest]: readonly string[], value: AttributeValue | undefined): Item {
  const after: Record<string, AttributeValue> = { ...item };
  if (rest.length > 0) {
    const inner = item[name as string]?.M;
    if (inner === undefined) throw invalid('The document path provided in the update expression is invalid for update');
    after[name as string] = { M: replaced(inner, rest, value) };
  } else if (value === undefined) delete after[name as string];
  else after[name as string] = value;
  return after;
}

function added(old: AttributeValue | undefined, more: AttributeValue): AttributeValue {
  if (more.SS !== undefined) return { SS: [...new Set([...(old?.SS ?? []), ...more.SS])] };
  return { N: String(integer(old?.N ?? '0') + integer(more.N ?? '')) };
}

function without(old: AttributeValue | undefined, less: AttributeValue): AttributeValue | undefined {
  if (less.SS === undefined) throw new Error('the simulated DynamoDB deletes from sets of strings alone');
  const rest = (old?.SS ?? []).filter((one) => !less.SS?.includes(one));
  return rest.length === 0 ? undefined : { SS: rest };
}

function compares(left: Operand, by: Comparison, right: Operand, item: Item | null, given: Placeholders): boolean {
  const [a, b] = [valueOf(left, item, given), valueOf(right, item, given)];
  if (a === undefined || b === undefined) return false;
  if (by === '=') return valuesEqual(a, b);
  if (by === '<>') return !valuesEqual(a, b);
  const order = compareValues(a, b);
  if (order === null) return false;
  switch (by) {
    case '<':
      return order < 0;
    case '<=':
      return order <= 0;
    case '>':
      return order > 0;
    case '>=':
      return order >= 0;
  }
}
