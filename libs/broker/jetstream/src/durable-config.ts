import { AckPolicy, type ConsumerConfig, ReplayPolicy } from 'nats';

/** What a durable consumer must be; where it begins and how long it waits for acks is told beside it. */
const FIXED = { ack_policy: AckPolicy.Explicit, replay_policy: ReplayPolicy.Instant, max_deliver: -1 } as const;

const NS_PER_MS = 1_000_000;
/** Deliveries in flight of one durable name, over all processes. */
const IN_FLIGHT_MAX = 10_000;

export function wantedDurable(name: string, ackWaitMs: number) {
  const ack_wait = Math.ceil(ackWaitMs) * NS_PER_MS;
  return { ...FIXED, durable_name: name, ack_wait, max_ack_pending: IN_FLIGHT_MAX } as const;
}

/** What is wrong with a consumer that somebody else made. */
export function durableDifferences(config: ConsumerConfig): string[] {
  const findings = Object.entries(FIXED).flatMap(([member, value]) => {
    const is = config[member as keyof ConsumerConfig];
    return is === value ? [] : [`${member} is ${JSON.stringify(is)}, must be ${JSON.stringify(value)}`];
  });
  const plain = !config.filter_subject && !config.filter_subjects && !config.deliver_subject;
  return plain ? findings : [...findings, 'it is no pull consumer of the whole queue'];
}
