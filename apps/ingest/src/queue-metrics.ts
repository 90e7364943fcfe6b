import type { QueueStats } from '@tidemark/libs-broker-contract';
import type { Metrics } from '@tidemark/libs-service-kit';

/** How full the queues were when somebody looked last. */
export interface QueueGauges {
  measured(tenant: string, stats: QueueStats): void;
  /** What is not known is not told: an old number would be taken for a new one. */
  forget(tenant: string): void;
  forgetAll(): void;
  keepOnly(tenants: readonly string[]): void;
  findings(count: number): void;
}

export function queueGauges(metrics: Metrics): QueueGauges {
  const gauges = {
    messages: metrics.gauge('tidemark_queue_messages', 'Events that wait in the queue of the tenant.', ['tenant']),
    bytes: metrics.gauge('tidemark_queue_bytes', 'Bytes that count against its budget.', ['tenant']),
    bytesMax: metrics.gauge('tidemark_queue_bytes_max', 'Its budget.', ['tenant']),
    deadLetters: metrics.gauge('tidemark_queue_dead_letters', 'Its dead letters.', ['tenant']),
    oldest: metrics.gauge('tidemark_queue_oldest_seconds', 'How long its oldest event waits.', ['tenant']),
  };
  const findings = metrics.gauge('tidemark_queue_findings', 'What is otherwise about the queues than it must be.');
  const measured = new Set<string>();
  const forget = (tenant: string) => {
    measured.delete(tenant);
    for (const gauge of Object.values(gauges)) gauge.remove({ tenant });
  };
  return {
    measured: (tenant, stats) => {
      measured.add(tenant);
      gauges.messages.set({ tenant }, Number(stats.messages));
      gauges.bytes.set({ tenant }, Number(stats.bytes));
      gauges.bytesMax.set({ tenant }, Number(stats.bytesMax));
      gauges.deadLetters.set({ tenant }, Number(stats.deadLetters));
      gauges.oldest.set({ tenant }, stats.oldestAgeMs / 1000);
    },
    forget,
    forgetAll: () => [...measured].forEach(forget),
    keepOnly: (tenants) => [...measured].filter((tenant) => !tenants.includes(tenant)).forEach(forget),
    findings: (count) => findings.set(count),
  };
}
