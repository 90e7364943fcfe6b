import type { ConsumerInfo, StreamState } from 'nats';

const SEQ_MAX = (1n << 63n) - 1n;

/** Everything up to here is acked. A consumer that has nothing in flight has acked all that it was given. */
export function floorOf({ num_ack_pending, delivered, ack_floor }: ConsumerInfo): bigint {
  return BigInt(num_ack_pending === 0 ? delivered.stream_seq : ack_floor.stream_seq);
}

/** Of no durable: there is no bound, unless `withoutDurable` is one. */
export function lowestFloor(durables: readonly ConsumerInfo[], withoutDurable = SEQ_MAX): bigint {
  return durables.length === 0 ? withoutDurable : durables.map(floorOf).reduce(least);
}

export function least(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

export function greatest(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}

/** Whether the consumer seems not to know of all that is stored behind what it has given out. */
export function lags({ num_pending, delivered }: ConsumerInfo, { first_seq, last_seq }: StreamState): boolean {
  return num_pending < last_seq - Math.max(delivered.stream_seq, first_seq - 1);
}
