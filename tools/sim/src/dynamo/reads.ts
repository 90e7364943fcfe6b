import type { GetItemCommandInput, TransactGetItemsCommandInput } from '@aws-sdk/client-dynamodb';
import { ACTIONS_MAX, placeOf } from './actions.ts';
import { type Flight, type Place, placeName, unseenOf } from './database.ts';
import { CONFLICT, NONE, OVER_PROVISIONED, THROTTLED, cancelled, invalid } from './errors.ts';
import type { Item } from './item.ts';
import { projected } from './query.ts';
import { type Request, onlyKnown, output } from './request.ts';
import { throttled } from './scans.ts';
import type { SimDynamo } from './sim-dynamo.ts';

const GET_INPUTS = new Set([
  'TableName',
  'Key',
  'ConsistentRead',
  'ProjectionExpression',
  'ExpressionAttributeNames',
  'ReturnConsumedCapacity',
]);

/** A strong read of one item: serialisable, so that it may be ordered before a write that is not acknowledged. */
export function getItem(dynamo: SimDynamo, request: Request): void {
  const input = request.input as unknown as GetItemCommandInput;
  onlyKnown(request.input, GET_INPUTS);
  if (input.ConsistentRead !== true) throw new Error('the simulated DynamoDB has strong reads alone');
  if (dynamo.misfortune(dynamo.weather.throttle)) throw throttled(dynamo);
  const place = placeOf(input.Key ?? {});
  const { database, weather } = dynamo;
  const item = weather.strength === 'impl' ? database.visible(place) : snapshotOf(dynamo, [place])(place);
  const Item = item === null ? undefined : projected(item, input.ProjectionExpression, input);
  request.reply(output(Item === undefined ? {} : { Item }));
}

const SNAPSHOT_INPUTS = new Set(['TransactItems', 'ReturnConsumedCapacity']);

/** Several items of one moment of the serial order, or a refusal because of a write in flight. */
export function transactGetItems(dynamo: SimDynamo, request: Request): void {
  const input = request.input as unknown as TransactGetItemsCommandInput;
  onlyKnown(request.input, SNAPSHOT_INPUTS);
  const gets = (input.TransactItems ?? []).flatMap(({ Get }) => (Get === undefined ? [] : [Get]));
  if (gets.length === 0 || gets.length > ACTIONS_MAX)
    throw invalid(`Member must have length less than or equal to ${ACTIONS_MAX}, and at least 1`);
  const places = gets.map(({ Key }) => placeOf(Key ?? {}));
  throttleRead(dynamo, places.length);
  refuse(dynamo, places);
  const at = snapshotOf(dynamo, places);
  const Responses = gets.map((get, i) => {
    const item = at(places[i] as Place);
    return item === null ? {} : { Item: projected(item, get.ProjectionExpression, get) };
  });
  request.reply(output({ Responses }));
}

function throttleRead(dynamo: SimDynamo, places: number): void {
  if (!dynamo.misfortune(dynamo.weather.throttle)) return;
  const how = dynamo.scheduler.choices.pick(3);
  if (how === 0) throw throttled(dynamo);
  dynamo.anomalies.throttle++;
  const reason = how === 1 ? THROTTLED : OVER_PROVISIONED;
  throw cancelled(Array.from({ length: places }, (_, i) => (i === 0 ? reason : NONE)));
}

/** Throws where this strength of database refuses the read, or may and does. */
function refuse(dynamo: SimDynamo, places: readonly Place[]): void {
  const { database, weather, scheduler } = dynamo;
  const touching = database.touching(places);
  const unseen = touching.flatMap(unseenOf);
  const names = new Set(places.map(placeName));
  const strict = {
    impl: unseen.some((write) => names.has(placeName(write))),
    brief: touching.some((flight) => writesAny(flight, names) && unseenOf(flight).length > 0),
  };
  const must = strict[weather.strength as keyof typeof strict] ?? false;
  const may = !(weather.strength in strict) && touching.length > 0;
  const does = must || (may && scheduler.choices.pick(2) === 1) || dynamo.misfortune(weather.spuriousRefusal);
  if (!does) return;
  dynamo.anomalies.refusedSnapshot++;
  const held = new Set(touching.flatMap((flight) => flight.held.map(placeName)));
  throw cancelled(
    places.map((place, i) => (held.has(placeName(place)) || (held.size === 0 && i === 0) ? CONFLICT : NONE)),
  );
}

const writesAny = ({ writes }: Flight, names: ReadonlySet<string>) =>
  writes.some((write) => names.has(placeName(write)));

/** The items as of a moment that this strength allows; chance says which. */
function snapshotOf(
  { database, weather, scheduler, anomalies }: SimDynamo,
  places: readonly Place[],
): (place: Place) => Item | null {
  if (weather.strength === 'impl') return (place) => database.latest(place);
  const moments = database.snapshots(places);
  const chosen = scheduler.choices.pick(moments.length);
  if (chosen < moments.length - 1) anomalies.staleSnapshot++;
  return (place) => database.asOf(place, moments[chosen] as number);
}
