import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { Fault } from '@tidemark/libs-kernel';

/** One row of the leases table, under the names that Amazon's client library for streams gives them. */
export interface LeaseRow {
  /** `leaseKey`: what is leased, see shardKey and segmentKey. */
  readonly key: string;
  /** `leaseOwner`; null: free for anybody. */
  readonly owner: string | null;
  /** `leaseCounter`: raised by every write of the row. Who sees it stand still for leaseMs may take the lease. */
  readonly counter: number;
  /** `leaseEpoch`: raised with every new owner, so that what an earlier one still sends is refused. */
  readonly epoch: number;
  /** How far the effects are stored: of a shard a sequence number, TRIM_HORIZON or SHARD_END. */
  readonly checkpoint: string;
  /** `ownerSwitchesSinceCheckpoint`: a lease that moves on and on and gets nowhere. */
  readonly switches: number;
  /** `parentShardId`. */
  readonly parent: string | null;
  /** `readAtMs`, by the wall clock of who read it: until then nothing was trimmed of a shard that is at TRIM_HORIZON. 0: nothing is known. */
  readonly readAtMs: number;
}

/** The oldest record that the shard still has. */
export const TRIM_HORIZON = 'TRIM_HORIZON';
/** DynamoDB keeps a record for 24 hours. What was looked at within this time has lost nothing to the trim, wherever clocks stand. */
export const KEPT_MS = 12 * 3_600_000;
/** Read to its end, and every effect stored. */
export const SHARD_END = 'SHARD_END';

/** What all workers of a fold agree on; see control.ts. */
export const CONTROL_KEY = 'control';

/** Shard ids may come again in the next stream of a table. */
export const shardKey = (label: string, shardId: string): string => `shard/${label}/${shardId}`;

export const segmentKey = (segment: number): string => `census/${segment}`;

/** The shard's id, when the row is one of that stream's. */
export function shardOf(key: string, label: string): string | null {
  const prefix = shardKey(label, '');
  return key.startsWith(prefix) ? key.slice(prefix.length) : null;
}

export function segmentOf(key: string): number | null {
  const digits = /^census\/(\d{1,6})$/.exec(key)?.[1];
  return digits === undefined ? null : Number(digits);
}

export const isShard = (key: string): boolean => key.startsWith('shard/');

export function freshRow(key: string, checkpoint: string, parent: string | null = null, readAtMs = 0): LeaseRow {
  return { key, owner: null, counter: 1, epoch: 0, checkpoint, switches: 0, parent, readAtMs };
}

export type Item = Readonly<Record<string, AttributeValue>>;

export function toItem(fold: string, row: LeaseRow): Record<string, AttributeValue> {
  return {
    fold: { S: fold },
    leaseKey: { S: row.key },
    ...(row.owner === null ? {} : { leaseOwner: { S: row.owner } }),
    leaseCounter: { N: String(row.counter) },
    leaseEpoch: { N: String(row.epoch) },
    checkpoint: { S: row.checkpoint },
    ownerSwitchesSinceCheckpoint: { N: String(row.switches) },
    ...(row.parent === null ? {} : { parentShardId: { S: row.parent } }),
    readAtMs: { N: String(Math.floor(row.readAtMs)) },
  };
}

/** Fault `corrupt` when an attribute is missing or of another type. */
export function toRow(item: Item): LeaseRow {
  const key = text(item, 'leaseKey');
  return {
    key,
    owner: item['leaseOwner'] === undefined ? null : text(item, 'leaseOwner'),
    counter: count(item, 'leaseCounter'),
    epoch: count(item, 'leaseEpoch'),
    checkpoint: text(item, 'checkpoint'),
    switches: count(item, 'ownerSwitchesSinceCheckpoint'),
    parent: item['parentShardId'] === undefined ? null : text(item, 'parentShardId'),
    readAtMs: count(item, 'readAtMs'),
  };
}

export function isSameRow(a: LeaseRow, b: LeaseRow): boolean {
  return JSON.stringify(toItem('', a)) === JSON.stringify(toItem('', b));
}

function text(item: Item, attribute: string): string {
  const value = item[attribute]?.S;
  if (value === undefined) throw corrupt(item, attribute, 'a text');
  return value;
}

function count(item: Item, attribute: string): number {
  const value = item[attribute]?.N ?? '';
  if (!/^\d{1,15}$/.test(value)) throw corrupt(item, attribute, 'a count');
  return Number(value);
}

function corrupt(item: Item, attribute: string, wanted: string): Fault {
  const where = `fold ${item['fold']?.S ?? '?'}, leaseKey ${item['leaseKey']?.S ?? '?'}`;
  return new Fault('corrupt', `the leases table: ${where}: ${attribute} is not ${wanted}`);
}
