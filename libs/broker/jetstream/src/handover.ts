import type { Clock } from '@tidemark/libs-kernel';
import type { Link } from './link.ts';
import type { Names } from './names.ts';
import type { Queues } from './queues.ts';

export interface HandoverParts {
  readonly link: Link;
  readonly names: Names;
  readonly queues: Queues;
  readonly clock: Clock;
  readonly timeoutMs: number;
}

/** Once for all who wait: every id that the leader noted in vain is free then. */
const EVERY_MS = 5000;

/**
 * Has a queue with copies change its leader. A leader of 2.10 notes the id of a message before it finds the queue full, and takes every
 * repeat for a duplicate of nothing from then on, for the whole duplicate window. Only it has noted that: the next leader knows what is stored.
 */
export class Handover {
  readonly #parts: HandoverParts;
  readonly #lastMs = new Map<string, number>();

  constructor(parts: HandoverParts) {
    this.#parts = parts;
  }

  /** False when it would not help: the queue has no room for so many bytes, or the right to ask is missing. */
  async run(tenant: string, bytes: number): Promise<boolean> {
    const { queues, clock } = this.#parts;
    const queue = await queues.find(tenant);
    if (!queue || queue.info.config.max_bytes - queue.info.state.bytes < bytes) return false;
    const nowMs = clock.monotonic();
    if (nowMs < (this.#lastMs.get(tenant) ?? -Infinity) + EVERY_MS) return true;
    this.#lastMs.set(tenant, nowMs);
    return this.#ask(queue.stream);
  }

  async #ask(stream: string): Promise<boolean> {
    const { link, timeoutMs } = this.#parts;
    try {
      const answer = await link.connection.request(`$JS.API.STREAM.LEADER.STEPDOWN.${stream}`, '', {
        timeout: timeoutMs,
      });
      return answer.json<{ success?: boolean }>().success === true;
    } catch {
      return false;
    }
  }
}
