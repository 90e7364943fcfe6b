import type { UpdateItemCommandInput } from '@aws-sdk/client-dynamodb';
import { actionOf, conditionHolds, effectOf, tooLarge, writeUnits } from './actions.ts';
import { placeName, unseenOf } from './database.ts';
import { DynamoError, invalid } from './errors.ts';
import { parseUpdate } from './expression.ts';
import type { Item } from './item.ts';
import { type Request, onlyKnown, output } from './request.ts';
import { throttled } from './scans.ts';
import type { SimDynamo } from './sim-dynamo.ts';

const INPUTS = new Set([
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

/** PutItem, UpdateItem, DeleteItem: judged, serialised and visible in one step, but for the answer. */
export function singleWrite(dynamo: SimDynamo, request: Request): void {
  const { database, scheduler, weather } = dynamo;
  const input = request.input as unknown as UpdateItemCommandInput;
  onlyKnown(request.input, INPUTS);
  const kind = request.operation === 'PutItem' ? 'put' : request.operation === 'UpdateItem' ? 'update' : 'delete';
  const action = actionOf(kind, input);
  const before = database.latest(action.place);
  const after = effectOf(action, before) ?? null;
  if (tooLarge(after)) throw invalid('Item size has exceeded the maximum allowed size');
  const units = () => writeUnits(after, false);
  if (
    dynamo.misfortune(weather.throttle) ||
    !dynamo.capacity.take(action.place.stream, units, weather.partitionUnits, scheduler.nowMs)
  )
    throw throttled(dynamo);
  const name = placeName(action.place);
  const overlapping = database
    .touching([action.place])
    .some((flight) => unseenOf(flight).some((one) => placeName(one) === name));
  if (overlapping || dynamo.misfortune(weather.spuriousConflict)) {
    dynamo.anomalies.conflict++;
    throw new DynamoError('TransactionConflictException', 'Transaction is ongoing for the item');
  }
  if (!conditionHolds(action, before))
    throw new DynamoError('ConditionalCheckFailedException', 'The conditional request failed');
  const flight = database.commit([{ ...action.place, item: after }]);
  if (request.abandoned()) dynamo.anomalies.lateCommit++;
  database.complete(flight);
  const finish = () => {
    database.acknowledge(flight);
    dynamo.answerWrite(request, output(answerOf(input, after)));
  };
  if (scheduler.ordering === 'free' || weather.acknowledgeMs[1] === 0) finish();
  else scheduler.happen(scheduler.between(weather.acknowledgeMs), `${request.name} is acknowledged`, finish);
}

function answerOf({ ReturnValues, UpdateExpression }: UpdateItemCommandInput, after: Item | null) {
  if (ReturnValues === undefined || ReturnValues === 'NONE') return {};
  if (UpdateExpression === undefined || ReturnValues !== 'UPDATED_NEW')
    throw new Error(`the simulated DynamoDB does not know ReturnValues ${ReturnValues}`);
  const names = parseUpdate(UpdateExpression).flatMap(({ path }) => (path.kind === 'path' ? [path.text] : []));
  return { Attributes: Object.fromEntries(names.map((name) => [name, after?.[name]])) };
}
