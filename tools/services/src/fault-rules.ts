import { setTimeout as sleep } from 'node:timers/promises';
import { type Call, callOf } from './dynamodb-call.ts';
import type { Answer, Rule } from './fault-proxy.ts';

export type Match = (call: Call) => boolean;

/** Every call of that name, such as `Query`. */
export const callsOf =
  (...names: readonly string[]): Match =>
  ({ name }) =>
    names.includes(name);

/** The first n that match. */
export function first(n: number, match: Match): Match {
  let left = n;
  return (call) => left > 0 && match(call) && left-- > 0;
}

/** Whoever asks has no right to this action, such as `ConditionCheckItem`; inside a transaction neither. */
export function deny(action: string, table?: string): Rule {
  return async (call, forward) => {
    const denied = call.actions.find((one) => one.name === action && (table ?? one.table) === one.table);
    if (denied === undefined) return forward(call);
    const arn = `arn:aws:dynamodb:us-east-1:000000000000:table/${denied.table}`;
    const right = `dynamodb:${action}`;
    return failure('com.amazon.coral.service#AccessDeniedException', {
      Message:
        `User: arn:aws:iam::000000000000:user/relay is not authorized to perform: ${right} on resource: ${arn} ` +
        `because no identity-based policy allows the ${right} action`,
    });
  };
}

/** One code for each action, `None` for those that were fine; with one code, every action gets it. */
export function cancel(match: Match, codes: readonly string[]): Rule {
  return async (call, forward) => {
    if (!call.isTransaction || !match(call)) return forward(call);
    return cancelled(call.actions.map((_, i) => (codes.length === 1 ? codes[0] : codes[i]) ?? 'None'));
  };
}

/** As a table does that has no capacity left. A transaction is cancelled for it, and the SDK does not repeat that. */
export function throttle(match: Match): Rule {
  return async (call, forward) => (match(call) ? throttled(call) : forward(call));
}

/** Any other error of DynamoDB, such as `TransactionInProgressException`; 5xx for those of the server. */
export function fail(match: Match, error: string, status = 400): Rule {
  return async (call, forward) =>
    match(call) ? failure(`${API}${error}`, { message: `${error} of the fault proxy` }, status) : forward(call);
}

/**
 * At most so many write units a second on one partition key, as AWS promises, with a tenth of a second's worth at once; more is throttled
 * before anything is written. What one call costs may go below zero and is waited for by the next ones.
 */
export function limitWriteUnits(perSecond: number, partitionKey: string): Rule {
  const buckets = new Map<string, { left: number; atMs: number }>();
  const bucketOf = (key: string) => {
    const now = performance.now();
    const most = perSecond / 10;
    const { left, atMs } = buckets.get(key) ?? { left: most, atMs: now };
    const bucket = { left: Math.min(most, left + ((now - atMs) * perSecond) / 1000), atMs: now };
    buckets.set(key, bucket);
    return bucket;
  };
  return async (call, forward) => {
    const spent = new Map<string, number>();
    for (const { action, units } of call.costs) {
      const key = JSON.stringify([action.table, action.item?.[partitionKey]]);
      spent.set(key, (spent.get(key) ?? 0) + units);
    }
    if ([...spent.keys()].some((key) => bucketOf(key).left <= 0)) return throttled(call);
    for (const [key, units] of spent) bucketOf(key).left -= units;
    return forward(call);
  };
}

/** DynamoDB did what was asked, and nobody hears of it. */
export function loseAnswer(match: Match): Rule {
  return async (call, forward) => {
    if (!match(call)) return forward(call);
    await forward(call);
    return { kind: 'lost' };
  };
}

/** Of each n that match, the last one. */
export function every(n: number, match: Match): Match {
  let seen = 0;
  return (call) => match(call) && ++seen % n === 0;
}

/** As an emulator does that knows nothing of ClientRequestToken: a transaction that is sent again is done again. */
export function forgetTokens(): Rule {
  return (call, forward) => {
    const { ClientRequestToken: token, ...body } = call.body;
    return forward(token === undefined ? call : callOf(call.name, body));
  };
}

/** So long on the way there, and again on the way back. */
export function delay(ms: number, match: Match = () => true): Rule {
  return async (call, forward) => {
    if (!match(call)) return forward(call);
    await sleep(ms);
    const answer = await forward(call);
    await sleep(ms);
    return answer;
  };
}

export interface Hold {
  readonly rule: Rule;
  /** Resolves with the first call that is kept. */
  readonly arrived: Promise<Call>;
  /** Lets go all that are kept, and every later one. A caller that has given up since is no reason not to forward. */
  release(): void;
}

/** Keeps calls before they are forwarded, or (`after`) their answers. */
export function hold(match: Match, where: 'before' | 'after' = 'before'): Hold {
  const arrived = Promise.withResolvers<Call>();
  const released = Promise.withResolvers<void>();
  const wait = (call: Call): Promise<void> => {
    arrived.resolve(call);
    return released.promise;
  };
  return {
    arrived: arrived.promise,
    release: () => released.resolve(),
    rule: async (call, forward) => {
      if (!match(call)) return forward(call);
      if (where === 'before') await wait(call);
      const answer = await forward(call);
      if (where === 'after') await wait(call);
      return answer;
    },
  };
}

/** A batch keeps only its first n of each table, and hands the others back as unprocessed. */
export function leaveUnprocessed(n: number, match: Match = () => true): Rule {
  return async (call, forward) => {
    const isWrite = call.name === 'BatchWriteItem';
    if (!(isWrite || call.name === 'BatchGetItem') || !match(call)) return forward(call);
    const done: Record<string, unknown> = {};
    const left: Record<string, unknown> = {};
    for (const [table, asked] of Object.entries(call.body['RequestItems'] as Record<string, BatchOfTable>)) {
      const items = 'Keys' in asked ? asked.Keys : asked;
      const part = (some: readonly unknown[]) => ('Keys' in asked ? { ...asked, Keys: some } : some);
      done[table] = part(items.slice(0, n));
      if (items.length > n) left[table] = part(items.slice(n));
    }
    const answer = await forward(callOf(call.name, { ...call.body, RequestItems: done }));
    if (answer.kind === 'lost' || answer.status !== 200) return answer;
    const body = JSON.parse(Buffer.from(answer.body).toString()) as Record<string, unknown>;
    return ok({ ...body, [isWrite ? 'UnprocessedItems' : 'UnprocessedKeys']: left });
  };
}

type BatchOfTable = readonly unknown[] | { readonly Keys: readonly unknown[] };

const API = 'com.amazonaws.dynamodb.v20120810#';

function throttled(call: Call): Answer {
  if (call.isTransaction) return cancelled(call.actions.map((_, i) => (i === 0 ? 'ThrottlingError' : 'None')));
  return failure(`${API}ProvisionedThroughputExceededException`, { message: 'The level of throughput was exceeded.' });
}

function cancelled(codes: readonly string[]): Answer {
  const list = codes.join(', ');
  return failure(`${API}TransactionCanceledException`, {
    Message: `Transaction cancelled, please refer cancellation reasons for specific reasons [${list}]`,
    CancellationReasons: codes.map((Code) => (Code === 'None' ? { Code } : { Code, Message: `${Code} by a rule` })),
  });
}

function failure(type: string, body: Readonly<Record<string, unknown>>, status = 400): Answer {
  return { kind: 'answer', status, body: Buffer.from(JSON.stringify({ __type: type, ...body })) };
}

function ok(body: Readonly<Record<string, unknown>>): Answer {
  return { kind: 'answer', status: 200, body: Buffer.from(JSON.stringify(body)) };
}
