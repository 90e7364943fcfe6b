import type {
  TransactWriteItem,
  TransactWriteItemsCommandInput,
  UpdateItemCommandInput,
} from '@aws-sdk/client-dynamodb';
import { ACTIONS_MAX, tooLarge } from './actions.ts';
import { CONFLICT, type CancellationReason, DynamoError, NONE, cancelled, invalid } from './errors.ts';
import { type Placeholders, holds, parseCondition, parseUpdate, updated } from './expression.ts';
import type { Item } from './item.ts';
import type { PlainTable } from './plain-table.ts';
import { type Request, onlyKnown, output } from './request.ts';
import { throttled } from './scans.ts';
import type { SimDynamo } from './sim-dynamo.ts';

const WRITE_INPUTS = new Set([
  'TableName',
  'Key',
  'Item',
  'UpdateExpression',
  'ConditionExpression',
  'ExpressionAttributeNames',
  'ExpressionAttributeValues',
  'ReturnValues',
  'ReturnConsumedCapacity',
  'ReturnValuesOnConditionCheckFailure',
]);

type Part = Placeholders & {
  readonly Key?: Item | undefined;
  readonly Item?: Item | undefined;
  readonly ConditionExpression?: string | undefined;
  readonly UpdateExpression?: string | undefined;
  readonly ReturnValues?: string | undefined;
  readonly ReturnValuesOnConditionCheckFailure?: string | undefined;
};

/** PutItem, UpdateItem, DeleteItem. */
export function plainWrite(dynamo: SimDynamo, table: PlainTable, request: Request): void {
  onlyKnown(request.input, WRITE_INPUTS);
  if (dynamo.misfortune(dynamo.weather.throttle)) throw throttled(dynamo);
  const part = request.input as unknown as UpdateItemCommandInput & Part;
  const key = table.keyOf(part.Key ?? part.Item);
  const before = table.get(key);
  const after = effectOf(request.operation, part, before, key);
  if (tooLarge(after)) throw invalid('Item size has exceeded the maximum allowed size');
  if (!conditionHolds(part, before)) {
    const failed = new DynamoError('ConditionalCheckFailedException', 'The conditional request failed');
    throw part.ReturnValuesOnConditionCheckFailure === 'ALL_OLD' && before !== null
      ? Object.assign(failed, { Item: before })
      : failed;
  }
  if (request.abandoned()) dynamo.anomalies.lateCommit++;
  table.write(key, after);
  dynamo.answerWrite(request, output(answerOf(part, before, after)));
}

/** All of it or nothing, in one instant. */
export function plainTransaction(dynamo: SimDynamo, table: PlainTable, request: Request): void {
  const { TransactItems = [] } = request.input as unknown as TransactWriteItemsCommandInput;
  if (TransactItems.length === 0 || TransactItems.length > ACTIONS_MAX) throw invalid('between 1 and 100 actions');
  const token = request.input['ClientRequestToken'] as string | undefined;
  if (token !== undefined && dynamo.tokens.begin(token, TransactItems, dynamo.scheduler.nowMs) === 'done before')
    return dynamo.answerWrite(request, output({}));
  const actions = TransactItems.map((item) => actionOf(table, item));
  if (new Set(actions.map(({ key }) => JSON.stringify(key))).size < actions.length)
    throw invalid('Transaction request cannot include multiple operations on one item');
  const isUnlucky = dynamo.misfortune(dynamo.weather.spuriousConflict);
  const reasons = actions.map(({ part, before, after }, i): CancellationReason => {
    if (isUnlucky && i === 0) return CONFLICT;
    if (tooLarge(after)) return { Code: 'ValidationError', Message: 'Item size has exceeded the maximum allowed size' };
    if (conditionHolds(part, before)) return NONE;
    const isTold = part.ReturnValuesOnConditionCheckFailure === 'ALL_OLD' && before !== null;
    return { Code: 'ConditionalCheckFailed', ...(isTold ? { Item: before } : {}) };
  });
  if (reasons.some(({ Code }) => Code !== 'None')) {
    if (token !== undefined) dynamo.tokens.failed(token);
    throw cancelled(reasons);
  }
  for (const { key, after } of actions) if (after !== undefined) table.write(key, after);
  if (token !== undefined) dynamo.tokens.succeeded(token, dynamo.scheduler.nowMs);
  dynamo.answerWrite(request, output({}));
}

function actionOf(table: PlainTable, { Put, Update, Delete, ConditionCheck }: TransactWriteItem) {
  const [operation, part] =
    Put !== undefined
      ? ['PutItem', Put]
      : Update !== undefined
        ? ['UpdateItem', Update]
        : Delete !== undefined
          ? ['DeleteItem', Delete]
          : ['ConditionCheck', ConditionCheck];
  const given = part as Part;
  const key = table.keyOf(given.Key ?? given.Item);
  const before = table.get(key);
  const after = operation === 'ConditionCheck' ? undefined : effectOf(operation as string, given, before, key);
  return { part: given, key, before, after };
}

function effectOf(operation: string, part: Part, before: Item | null, key: Item): Item | null {
  if (operation === 'PutItem') return { ...part.Item };
  if (operation === 'DeleteItem') return null;
  // Its effect counts only where its condition holds; elsewhere it may refer to what is not there.
  if (!conditionHolds(part, before)) return before;
  return part.UpdateExpression === undefined ? (before ?? key) : updated(part.UpdateExpression, before, key, part);
}

function conditionHolds(part: Part, item: Item | null): boolean {
  return part.ConditionExpression === undefined || holds(parseCondition(part.ConditionExpression), item, part);
}

function answerOf({ ReturnValues = 'NONE', UpdateExpression }: Part, before: Item | null, after: Item | null) {
  switch (ReturnValues) {
    case 'NONE':
      return {};
    case 'ALL_NEW':
      return after === null ? {} : { Attributes: after };
    case 'ALL_OLD':
      return before === null ? {} : { Attributes: before };
    case 'UPDATED_NEW': {
      const names = parseUpdate(UpdateExpression ?? '').flatMap(({ path }) =>
        path.kind === 'path' ? [path.text] : [],
      );
      return { Attributes: Object.fromEntries(names.map((name) => [name, after?.[name]])) };
    }
    default:
      throw new Error(`the simulated DynamoDB does not know ReturnValues ${ReturnValues}`);
  }
}
