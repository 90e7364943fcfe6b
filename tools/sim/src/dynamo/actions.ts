import type { AttributeValue, TransactWriteItem } from '@aws-sdk/client-dynamodb';
import type { Place } from './database.ts';
import { invalid } from './errors.ts';
import { type Placeholders, holds, parseCondition, updated } from './expression.ts';
import { ITEM_BYTES_MAX, type Item, integer, itemBytes, surelyFits } from './item.ts';

export const ACTIONS_MAX = 100;
export const TRANSACTION_BYTES_MAX = 4 * 1024 * 1024;

/** One action of a transaction, or a write of a single item. */
export interface Action {
  readonly kind: 'put' | 'update' | 'delete' | 'check';
  readonly place: Place;
  readonly key: Item;
  readonly condition: string | undefined;
  readonly given: Placeholders;
  /** Whether a failed condition tells the item that it failed on. */
  readonly tellsOld: boolean;
  readonly item: Item | undefined;
  readonly update: string | undefined;
}

type Part = Partial<Placeholders> & {
  readonly Key?: Item | undefined;
  readonly Item?: Item | undefined;
  readonly ConditionExpression?: string | undefined;
  readonly UpdateExpression?: string | undefined;
  readonly ReturnValuesOnConditionCheckFailure?: string | undefined;
};

export function actionOf(kind: Action['kind'], part: Part): Action {
  const key = keyOf(part.Key ?? part.Item ?? {});
  return {
    kind,
    place: placeOf(key),
    key,
    condition: part.ConditionExpression,
    given: part,
    tellsOld: part.ReturnValuesOnConditionCheckFailure === 'ALL_OLD',
    item: part.Item,
    update: part.UpdateExpression,
  };
}

/** The actions of a transaction, which is refused as a whole where DynamoDB would not even look at it. */
export function actionsOf(parts: readonly TransactWriteItem[]): readonly Action[] {
  if (parts.length === 0 || parts.length > ACTIONS_MAX)
    throw invalid(`Member must have length less than or equal to ${ACTIONS_MAX}, and at least 1`);
  const actions = parts.map(({ Put, Update, Delete, ConditionCheck }) => {
    if (Put !== undefined) return actionOf('put', Put);
    if (Update !== undefined) return actionOf('update', Update);
    if (Delete !== undefined) return actionOf('delete', Delete);
    if (ConditionCheck !== undefined) return actionOf('check', ConditionCheck);
    throw invalid('an action of none of the four kinds');
  });
  const places = new Set(actions.map(({ place }) => `${place.stream}/${place.seq}`));
  if (places.size < actions.length) throw invalid('Transaction request cannot include multiple operations on one item');
  return actions;
}

export function placeOf(key: Item): Place {
  const { stream_id, seq } = key;
  if (stream_id?.S === undefined || stream_id.S === '' || seq?.N === undefined)
    throw invalid('The provided key element does not match the schema');
  return { stream: stream_id.S, seq: integer(seq.N) };
}

function keyOf({ stream_id, seq }: Item): Item {
  return { stream_id: stream_id as AttributeValue, seq: seq as AttributeValue };
}

export function conditionHolds({ condition, given }: Action, item: Item | null): boolean {
  return condition === undefined || holds(parseCondition(condition), item, given);
}

/** What the action leaves at its place: an item, null for none; undefined when it only checks. */
export function effectOf(action: Action, item: Item | null): Item | null | undefined {
  switch (action.kind) {
    case 'put':
      return action.item as Item;
    case 'update':
      return updated(action.update as string, item, action.key, action.given);
    case 'delete':
      return null;
    case 'check':
      return undefined;
  }
}

export const tooLarge = (item: Item | null | undefined) =>
  item != null && !surelyFits(item, ITEM_BYTES_MAX) && itemBytes(item) > ITEM_BYTES_MAX;

/** Of what is written, rounded up to whole KB and doubled within a transaction; a check costs as much as a write of its item. */
export function writeUnits(item: Item | null | undefined, transactional: boolean): number {
  const units = Math.max(1, Math.ceil((item == null ? 0 : itemBytes(item)) / 1024));
  return transactional ? 2 * units : units;
}
