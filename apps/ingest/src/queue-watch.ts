import type { Broker, QueueFinding } from '@tidemark/libs-broker-contract';
import { Fault, type Sleeper, asFault } from '@tidemark/libs-kernel';
import type { ServiceParts } from '@tidemark/libs-service-kit';
import { type QueueGauges, queueGauges } from './queue-metrics.ts';

export interface QueueWatchParts extends Pick<ServiceParts, 'log' | 'metrics'> {
  readonly broker: Pick<Broker, 'verifyQueues' | 'stats'>;
  /** Whose queues are measured. */
  readonly tenants: () => readonly string[];
}

const LOOK_MS = 15_000;

/**
 * Looks at the queues from time to time: how full they are, and whether they still are what this service rests on (ING-6). A finding is
 * logged once while it lasts; one that could not be put right makes the service not ready, as it would have kept it from starting.
 */
export class QueueWatch {
  readonly #parts: QueueWatchParts;
  readonly #gauges: QueueGauges;
  #findings: readonly QueueFinding[] = [];
  #failed = false;

  constructor(parts: QueueWatchParts) {
    this.#parts = parts;
    this.#gauges = queueGauges(parts.metrics);
  }

  /** For readiness: rejects while a queue is not what it must be. */
  readonly check = async (): Promise<void> => {
    const left = this.#findings.filter(({ mended }) => !mended);
    if (left.length > 0) throw new Fault('misconfigured', left.map(({ detail }) => detail).join('\n'));
  };

  async run(sleeper: Sleeper, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.look();
      await sleeper.sleep(LOOK_MS, signal);
    }
  }

  /** Never rejects: what cannot be looked at is not known, and the queue's own health is another check. */
  async look(): Promise<void> {
    try {
      this.#take(await this.#parts.broker.verifyQueues());
      await this.#measure();
      this.#failed = false;
    } catch (thrown) {
      this.#gauges.forgetAll();
      if (!this.#failed) this.#parts.log.warn({ err: asFault(thrown) }, 'the queues cannot be looked at');
      this.#failed = true;
    }
  }

  #take(findings: readonly QueueFinding[]): void {
    const { log } = this.#parts;
    for (const { tenant, detail, mended } of findings) {
      if (mended) log.warn({ tenant, detail }, 'a queue was changed by somebody else, and is put right');
      else if (this.#findings.every((before) => before.mended || before.detail !== detail))
        log.error({ tenant, detail }, 'a queue is not what it must be: ingest is not ready until it is');
    }
    const left = findings.filter(({ mended }) => !mended).length;
    if (left === 0 && this.#findings.some(({ mended }) => !mended)) log.info('the queues are what they must be again');
    this.#findings = findings;
    this.#gauges.findings(left);
  }

  /** A tenant whose queue this process never opened has none to measure. */
  async #measure(): Promise<void> {
    const tenants = this.#parts.tenants();
    this.#gauges.keepOnly(tenants);
    for (const tenant of tenants) {
      const stats = await this.#parts.broker.stats(tenant).catch((thrown: unknown) => {
        if (asFault(thrown).code !== 'not_found') throw thrown;
        return null;
      });
      if (stats === null) this.#gauges.forget(tenant);
      else this.#gauges.measured(tenant, stats);
    }
  }
}
