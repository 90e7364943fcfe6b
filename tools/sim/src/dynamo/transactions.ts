import type { TransactWriteItemsCommandInput } from '@aws-sdk/client-dynamodb';
import {
  type Action,
  ACTIONS_MAX,
  TRANSACTION_BYTES_MAX,
  actionsOf,
  conditionHolds,
  effectOf,
  tooLarge,
  writeUnits,
} from './actions.ts';
import { type Flight, type Write, placeName, unseenOf } from './database.ts';
import { CONFLICT, type CancellationReason, NONE, OVER_PROVISIONED, THROTTLED, cancelled, invalid } from './errors.ts';
import { type Item, itemBytes, surelyFits } from './item.ts';
import { type Request, onlyKnown, output } from './request.ts';
import { throttled } from './scans.ts';
import type { SimDynamo } from './sim-dynamo.ts';

const INPUTS = new Set(['TransactItems', 'ClientRequestToken', 'ReturnConsumedCapacity']);

/** Judges a transaction in one step; what it wrote becomes visible, complete and acknowledged afterwards. */
export function transactWriteItems(dynamo: SimDynamo, request: Request): void {
  const input = request.input as unknown as TransactWriteItemsCommandInput;
  onlyKnown(request.input, INPUTS);
  const actions = actionsOf(input.TransactItems ?? []);
  const token = dynamo.weather.tokens === 'honoured' ? input.ClientRequestToken : undefined;
  if (token !== undefined && repeats(dynamo, token, input)) return dynamo.answerWrite(request, output({}));
  try {
    const effects = actions.map((action) => effectOf(action, dynamo.database.latest(action.place)));
    throttle(dynamo, actions, effects);
    const reasons = judge(dynamo, actions, effects);
    if (reasons.some(({ Code }) => Code !== 'None')) throw cancelled(told(dynamo, reasons));
    const flight = dynamo.database.commit(...writesOf(actions, effects));
    if (request.abandoned()) dynamo.anomalies.lateCommit++;
    fly(dynamo, request, flight, () => {
      if (token !== undefined) dynamo.tokens.succeeded(token, dynamo.scheduler.nowMs);
      finish(dynamo, request);
    });
  } catch (error) {
    if (token !== undefined) dynamo.tokens.failed(token);
    throw error;
  }
}

function repeats(dynamo: SimDynamo, token: string, input: TransactWriteItemsCommandInput): boolean {
  if (token.length === 0 || token.length > 36) throw invalid('ClientRequestToken: 1 to 36 characters');
  try {
    return dynamo.tokens.begin(token, input.TransactItems, dynamo.scheduler.nowMs) === 'done before';
  } catch (error) {
    if ((error as Error).name === 'TransactionInProgressException') dynamo.anomalies.inProgress++;
    throw error;
  }
}

function throttle(dynamo: SimDynamo, actions: readonly Action[], effects: readonly (Item | null | undefined)[]): void {
  const { scheduler, weather, anomalies } = dynamo;
  const stream = (actions[0] as Action).place.stream;
  const units = () => effects.reduce((sum, item) => sum + writeUnits(item, true), 0);
  const taken = dynamo.capacity.take(stream, units, weather.partitionUnits, scheduler.nowMs);
  if (taken && !dynamo.misfortune(weather.throttle)) return;
  const how = scheduler.choices.pick(3);
  if (how === 0) throw throttled(dynamo);
  anomalies.throttle++;
  const reason = how === 1 ? THROTTLED : OVER_PROVISIONED;
  const at = scheduler.choices.pick(actions.length);
  throw cancelled(actions.map((_, i) => (i === at ? reason : NONE)));
}

function judge(
  dynamo: SimDynamo,
  actions: readonly Action[],
  effects: readonly (Item | null | undefined)[],
): CancellationReason[] {
  if (bytesOf(effects) > TRANSACTION_BYTES_MAX) throw invalid('Collection size exceeds the limit of 4 MB');
  const taken = conflicts(dynamo, actions);
  const unlucky = dynamo.misfortune(dynamo.weather.spuriousConflict)
    ? dynamo.scheduler.choices.pick(actions.length)
    : -1;
  return actions.map((action, i) => {
    if (tooLarge(effects[i]))
      return { Code: 'ValidationError', Message: 'Item size has exceeded the maximum allowed size' };
    if (i === unlucky || taken.has(placeName(action.place))) return (dynamo.anomalies.conflict++, CONFLICT);
    const item = dynamo.database.latest(action.place);
    if (conditionHolds(action, item)) return NONE;
    const Item = action.tellsOld && item !== null ? { Item: { ...item } } : {};
    return { Code: 'ConditionalCheckFailed', Message: 'The conditional request failed', ...Item };
  });
}

/** Exact where it matters. */
function bytesOf(effects: readonly (Item | null | undefined)[]): number {
  const items = effects.filter((item) => item != null);
  if (items.every((item) => surelyFits(item, TRANSACTION_BYTES_MAX / ACTIONS_MAX))) return 0;
  return items.reduce((sum, item) => sum + itemBytes(item), 0);
}

/**
 * Names of the places that transactions in flight hold. What is not yet visible conflicts; whether the rest of such a transaction still
 * does is not said, so that it may or may not. The weakest database may commit one upon the other.
 */
function conflicts({ database, weather, scheduler }: SimDynamo, actions: readonly Action[]): ReadonlySet<string> {
  const touching = database.touching(actions.map(({ place }) => place)).filter(({ state }) => state === 'showing');
  if (touching.length === 0) return new Set();
  if (weather.strength === 'nolock' && scheduler.choices.pick(2) === 1) return new Set();
  const whole = scheduler.ordering === 'timed' && scheduler.choices.pick(2) === 1;
  return new Set(touching.flatMap((flight) => (whole ? flight.held : unseenOf(flight)).map(placeName)));
}

/** All reasons, or some of them: nothing says that every failed condition is reported. */
function told(dynamo: SimDynamo, reasons: readonly CancellationReason[]): readonly CancellationReason[] {
  if (!dynamo.misfortune(dynamo.weather.partialReasons)) return reasons;
  const failed = reasons.flatMap(({ Code }, i) => (Code === 'None' ? [] : [i]));
  const kept = failed[dynamo.scheduler.choices.pick(failed.length)];
  return reasons.map((reason, i) => (i === kept || dynamo.scheduler.choices.pick(2) === 1 ? reason : NONE));
}

function writesOf(
  actions: readonly Action[],
  effects: readonly (Item | null | undefined)[],
): [Write[], Action['place'][]] {
  const writes: Write[] = [];
  const checked: Action['place'][] = [];
  for (const [i, { place }] of actions.entries()) {
    const item = effects[i];
    if (item === undefined) checked.push(place);
    else writes.push({ ...place, item });
  }
  return [writes, checked];
}

/** Items become visible one by one, in any order; then the transaction is complete, then acknowledged. */
function fly(dynamo: SimDynamo, request: Request, flight: Flight, acknowledged: () => void): void {
  const { scheduler, weather, database, liberties } = dynamo;
  const free = scheduler.ordering === 'free';
  const acknowledge = () => {
    database.acknowledge(flight);
    acknowledged();
  };
  const complete = () => {
    database.complete(flight);
    const label = `${request.name} is acknowledged`;
    if (free && liberties.slowAnswers) scheduler.wake(0, label, acknowledge);
    else if (free || weather.acknowledgeMs[1] === 0) acknowledge();
    else scheduler.happen(scheduler.between(weather.acknowledgeMs), label, acknowledge);
  };
  const byItself = flight.writes.filter(({ seq }) => !free || seq >= 0n || liberties.slowClaims);
  if (byItself.length === 0 || (!free && weather.showMs[1] === 0)) return complete();
  let hidden = byItself.length;
  for (const write of byItself) {
    const show = () => {
      database.show(flight, write);
      if (--hidden === 0) complete();
    };
    const label = `${request.name} shows ${placeName(write)}`;
    // The last one may go on to the answer.
    if (free) scheduler.wake(0, label, show);
    else scheduler.happen(scheduler.between(weather.showMs), label, show);
  }
}

function finish(dynamo: SimDynamo, request: Request): void {
  const { scheduler, liberties, anomalies } = dynamo;
  if (scheduler.ordering === 'free' && liberties.lostAnswers > 0 && scheduler.choices.pick(2) === 1) {
    liberties.lostAnswers--;
    anomalies.lostAnswer++;
    request.reply({ kind: 'error', error: Object.assign(new Error('no answer in time'), { name: 'TimeoutError' }) });
  } else {
    dynamo.answerWrite(request, output({}));
  }
}
