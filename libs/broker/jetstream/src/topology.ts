import { Fault } from '@tidemark/libs-kernel';
import type { ConsumerInfo, JetStreamManager } from 'nats';
import { durableDifferences } from './durable-config.ts';
import { REFUSED, refusalNumber, throwFault } from './map-error.ts';
import type { Names } from './names.ts';
import type { Queues } from './queues.ts';
import {
  type StreamSettings,
  type WantedStream,
  deadLetterStream,
  leaseStream,
  queueStream,
  withoutBudget,
} from './stream-config.ts';

export interface TopologyParts {
  readonly queues: Queues;
  readonly manager: JetStreamManager;
  readonly names: Names;
  readonly settings: StreamSettings;
}

export interface Expected {
  readonly tenants: readonly string[];
  readonly consumers?: readonly string[];
}

/** For streams of an operator: nothing is made or changed, and everything that is wrong with any of them is told in one fault. */
export async function verifyTopology(parts: TopologyParts, { tenants, consumers = [] }: Expected): Promise<void> {
  const { queues, names, settings } = parts;
  const streams = [leaseStream(names, settings), ...tenants.flatMap((tenant) => streamsOf(tenant, names, settings))];
  const findings = await queues.findings(streams);
  for (const tenant of tenants)
    for (const consumer of consumers) findings.push(...(await durableFindings(parts, tenant, consumer)));
  tellFindings(findings);
}

/** As verifyTopology, for the streams of one tenant. */
export async function verifyTenant(parts: TopologyParts, tenant: string): Promise<void> {
  tellFindings(await parts.queues.findings(streamsOf(tenant, parts.names, parts.settings)));
}

/** Those of a tenant; how large they may be is left open. */
export function streamsOf(tenant: string, names: Names, settings: StreamSettings): readonly WantedStream[] {
  return [
    withoutBudget(queueStream(names, tenant, 0n, settings)),
    withoutBudget(deadLetterStream(names, tenant, 0n, 0, settings)),
  ];
}

async function durableFindings({ queues, manager, names }: TopologyParts, tenant: string, consumer: string) {
  const [stream, durable] = [names.queueStream(tenant), names.durable(consumer)];
  const info = await queues
    .ask((): Promise<ConsumerInfo | undefined> => manager.consumers.info(stream, durable))
    .catch((thrown: unknown) => {
      const absent = [REFUSED.consumerNotFound, REFUSED.streamNotFound].some((one) => one === refusalNumber(thrown));
      return absent ? undefined : throwFault(thrown);
    });
  if (!info) return [`${stream}: the durable consumer ${durable} is not there`];
  return durableDifferences(info.config).map((finding) => `${stream}, consumer ${durable}: ${finding}`);
}

function tellFindings(findings: readonly string[]): void {
  if (findings.length > 0) throw new Fault('misconfigured', `the broker is set up otherwise:\n${findings.join('\n')}`);
}
