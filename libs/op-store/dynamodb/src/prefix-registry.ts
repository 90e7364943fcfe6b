import { type CancellationReason, GetItemCommand, TransactWriteItemsCommand } from '@aws-sdk/client-dynamodb';
import { mapError, mapWriteError, nameOf, type DynamoClient } from '@tidemark/libs-driver-dynamodb';
import { type Clock, Fault, type Random, type Sleeper, backoffMs } from '@tidemark/libs-kernel';
import { PREFIX_CANDIDATES_MAX, type PrefixRegistry, type Registration } from '@tidemark/libs-op-store-contract';
import { prefixCandidate } from '@tidemark/libs-wire';
import { assertStorable, registryKey } from './registry-key.ts';
import { PREFIX_ITEM, settleClaim, UUID_ITEM } from './settle-claim.ts';

export interface RegistryParts {
  readonly client: DynamoClient;
  /** The registry table. */
  readonly table: string;
  readonly clock: Clock;
  readonly sleeper: Sleeper;
  readonly random: Random;
}

/** How often one claim is sent again after a conflict or a throttle; the waits between add up to less than 115 ms. */
export const CLAIM_RETRIES_MAX = 5;
const CLAIM_BACKOFF = { baseMs: 5, ceilingMs: 40 };

/** For one call; looked at before each candidate. */
export const REGISTER_BUDGET_MS = 5000;

/**
 * A replica asks again before every sync, so the answer to a known one is one read: claims never change. A claim is one transaction of two
 * rows, one for the prefix and one for the replica, neither of which may exist: however many race, a prefix has one owner and a replica one
 * prefix. A claim whose answer is lost is found by the next call.
 */
export function dynamodbPrefixRegistry(parts: RegistryParts, candidatesMax = PREFIX_CANDIDATES_MAX): PrefixRegistry {
  const { clock } = parts;
  return {
    async register(stream, asked, replicaUuid) {
      assertStorable(stream, { prefix: asked, replica_uuid: replicaUuid });
      const endsAtMs = clock.monotonic() + REGISTER_BUDGET_MS;
      const known = await ownedPrefix(parts, stream, replicaUuid);
      if (known !== null) return answer(asked, known);
      for (const prefix of wishes(asked, replicaUuid, candidatesMax)) {
        if (clock.monotonic() >= endsAtMs) throw overBudget();
        const owned = await claim(parts, stream, prefix, replicaUuid);
        if (owned !== null) return answer(asked, owned);
      }
      throw new Fault('unavailable', `prefix space exhausted: none of ${candidatesMax} candidates is free`);
    },
  };
}

function* wishes(asked: string, replicaUuid: string, candidatesMax: number): Generator<string> {
  yield asked;
  for (let n = 0; n < candidatesMax; n++) yield prefixCandidate(replicaUuid, n);
}

/** The prefix that the replica owns from now on; null when the given one belongs to another. */
async function claim(
  parts: RegistryParts,
  stream: string,
  prefix: string,
  replicaUuid: string,
): Promise<string | null> {
  for (let retries = 0; ; retries++) {
    const reasons = await sendClaim(parts, stream, prefix, replicaUuid);
    if (reasons === null) return prefix;
    const { kind } = settleClaim(reasons);
    if (kind === 'taken') return null;
    if (kind === 'own') return ownPrefix(parts, stream, replicaUuid);
    if (kind === 'fatal') throw refused(reasons);
    if (retries === CLAIM_RETRIES_MAX) throw contended();
    await parts.sleeper.sleep(backoffMs(retries, CLAIM_BACKOFF, parts.random));
  }
}

/** null when it is stored; else the reasons why it is not. */
async function sendClaim(
  { client, table }: RegistryParts,
  stream: string,
  prefix: string,
  replicaUuid: string,
): Promise<readonly CancellationReason[] | null> {
  const put = (Item: Record<string, { S: string }>) => ({
    Put: { TableName: table, Item, ConditionExpression: 'attribute_not_exists(stream_id)' },
  });
  const items = [];
  items[PREFIX_ITEM] = put({ ...registryKey(stream, 'prefix', prefix), replica_uuid: { S: replicaUuid } });
  items[UUID_ITEM] = put({ ...registryKey(stream, 'uuid', replicaUuid), prefix: { S: prefix } });
  try {
    await client.send(new TransactWriteItemsCommand({ TransactItems: items }));
    return null;
  } catch (thrown) {
    const { CancellationReasons: reasons } = thrown as { CancellationReasons?: readonly CancellationReason[] };
    if (nameOf(thrown) === 'TransactionCanceledException' && reasons !== undefined) return reasons;
    throw mapWriteError(thrown, table);
  }
}

/** What this replica claimed at the same time, through another call or relay. */
async function ownPrefix(parts: RegistryParts, stream: string, replicaUuid: string): Promise<string> {
  const owned = await ownedPrefix(parts, stream, replicaUuid);
  if (owned === null) throw new Fault('corrupt', `${parts.table}: a replica’s claim was removed while it was read`);
  return owned;
}

async function ownedPrefix(parts: RegistryParts, stream: string, replicaUuid: string): Promise<string | null> {
  const { client, table } = parts;
  const Key = registryKey(stream, 'uuid', replicaUuid);
  const command = new GetItemCommand({ TableName: table, Key, ConsistentRead: true });
  const { Item } = await client.send(command).catch((thrown: unknown) => {
    throw mapError(thrown, table);
  });
  if (Item === undefined) return null;
  const prefix = Item['prefix']?.S;
  if (prefix === undefined) throw new Fault('corrupt', `${table}: the claim of a replica has no text attribute prefix`);
  return prefix;
}

function answer(asked: string, owned: string): Registration {
  return asked === owned ? { outcome: 'registered' } : { outcome: 'reassigned', newPrefix: owned };
}

function refused(reasons: readonly CancellationReason[]): Fault {
  const told = reasons.map(({ Code, Message }) => (Message === undefined ? Code : `${Code}: ${Message}`));
  return new Fault('internal', `DynamoDB refused the claim of a prefix (${told.join('; ')})`, { outcome: 'not-done' });
}

function contended(): Fault {
  return new Fault('unavailable', `the claim of a prefix met others ${CLAIM_RETRIES_MAX + 1} times in a row`, {
    retryAfterMs: 1000,
  });
}

function overBudget(): Fault {
  const took = `the search for a free prefix took longer than ${REGISTER_BUDGET_MS} ms`;
  return new Fault('unavailable', took, { retryAfterMs: 1000 });
}
