import type { Clock, Sleeper } from '@tidemark/libs-kernel';
import type { ConsumerInfo, JetStreamManager, StreamState } from 'nats';
import type { Run } from './acked-runs.ts';
import { lags, least, lowestFloor } from './floors.ts';
import type { BrokerLog } from './link.ts';
import { REFUSED, refusalNumber } from './map-error.ts';
import type { Names } from './names.ts';
import type { Queues } from './queues.ts';
import { Trimming, type Which } from './trimming.ts';

export interface TrimmerParts {
  readonly queues: Queues;
  readonly manager: JetStreamManager;
  readonly names: Names;
  readonly duplicateWindowMs: number;
  readonly clock: Clock;
  readonly sleeper: Sleeper;
  readonly log: BrokerLog;
}

/** A queue that was found full is not looked at again before that, unless something was acked here. */
const FULL_RECHECK_MS = 250;
/** Messages that are removed one by one in a round; the others wait for the next one. */
const DELETES_MAX = 1000;
const DELETES_TOGETHER = 64;
/** Between two looks for what has got old. */
const AGED_TRIM_EVERY_MS = 1000;

/** A server tells its consumers a moment after it answered the publisher. */
const LAG_MS_MAX = 64;

/** What not every durable consumer has acked. */
export interface Unsettled {
  /** Exact for one durable; for several what the slowest has left. */
  readonly messages: number;
  /** No message before this one is among them. */
  readonly from: bigint;
}

export interface AckedQueue {
  readonly tenant: string;
  /** Which incarnation: seqs of another one say nothing about this one's. */
  readonly name: string;
  readonly durable: string;
}

/**
 * Removes what every durable consumer has acked; nothing else in the system removes a message.
 *
 * A server that starts anew knows the ids of the messages that it holds. So an acked message stays for the duplicate window, and its
 * repeat is dropped also after restarts; it goes earlier when a full queue needs the room.
 *
 *     ┌─ acked, older than the window ─┬─ acked ─┬─ acked and not, mixed ─┬─ not delivered ─┐
 *     purged                           kept      ▲ one by one, when older than the window
 *                                                lowest floor of the durables
 */
export class Trimmer {
  readonly #parts: TrimmerParts;
  readonly #tenants = new Map<string, Trimming>();

  constructor(parts: TrimmerParts) {
    this.#parts = parts;
  }

  /** A message of that tenant was acked under the durable name, or given out: the newest time is the server's now. */
  acked(queue: AckedQueue, acks: readonly { readonly seq: bigint; readonly storedAtMs: number }[]): void {
    const { tenant, name, durable } = queue;
    const trimming = this.#of(tenant);
    trimming.now(name);
    trimming.foundFullAtMs = -Infinity;
    trimming.acks++;
    const runs = trimming.runsOf(durable);
    for (const { seq, storedAtMs } of acks) {
      runs.add(seq, storedAtMs);
      trimming.nowMs = Math.max(trimming.nowMs, storedAtMs);
    }
    const nowMs = this.#parts.clock.monotonic();
    if (runs.lastStoredBefore(this.#agedMs(trimming)) === 0n || nowMs < trimming.agedTrimAtMs + AGED_TRIM_EVERY_MS)
      return;
    trimming.agedTrimAtMs = nowMs;
    void this.#trim(tenant, 'aged');
  }

  /** Rises with every ack of this process. */
  acksOf(tenant: string): number {
    return this.#of(tenant).acks;
  }

  /** For a full queue: removes whatever may be removed. False when nothing was. */
  async makeRoom(tenant: string): Promise<boolean> {
    const trimming = this.#of(tenant);
    if (this.#parts.clock.monotonic() < trimming.foundFullAtMs + FULL_RECHECK_MS) return false;
    if (await this.#trim(tenant, 'all')) return true;
    trimming.foundFullAtMs = this.#parts.clock.monotonic();
    return false;
  }

  /** Where a new durable name begins: what all others have acked is nothing to it. */
  async startOf(tenant: string): Promise<bigint> {
    const durables = await this.#durables(tenant);
    if (durables.length === 0) return 0n;
    const start = lowestFloor(durables) + 1n;
    await this.#removeMixed(tenant, durables, start, 'all');
    return start;
  }

  /** Without a durable every message is. */
  async unsettled(tenant: string, state: StreamState): Promise<Unsettled> {
    const durables = await this.inStep(state, () => this.#durables(tenant));
    const left = durables.map(({ num_pending, num_ack_pending }) => num_pending + num_ack_pending);
    const messages = durables.length === 0 ? state.messages : Math.min(state.messages, Math.max(...left));
    return { messages, from: lowestFloor(durables, 0n) + 1n };
  }

  /** Asks until the consumers know of every message that was stored, some times: who removed a message by hand leaves a gap. */
  async inStep(state: StreamState, ask: () => Promise<readonly ConsumerInfo[]>): Promise<readonly ConsumerInfo[]> {
    for (let waitMs = 2; ; waitMs *= 2) {
      const infos = await ask();
      if (waitMs > LAG_MS_MAX || !infos.some((info) => lags(info, state))) return infos;
      await this.#parts.sleeper.sleep(waitMs);
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.#tenants.values()].map(({ running }) => running));
  }

  /** One at a time for a tenant; whoever comes meanwhile gets the same answer. */
  #trim(tenant: string, which: Which): Promise<boolean> {
    const trimming = this.#of(tenant);
    if (trimming.running && (which === 'aged' || trimming.which === 'all')) return trimming.running;
    const before = trimming.running ?? Promise.resolve(false);
    const running: Promise<boolean> = before
      .then(() => this.#remove(tenant, which))
      .catch((thrown: unknown) => {
        this.#parts.log.warn({ tenant, err: thrown }, 'acked messages could not be removed');
        return false;
      })
      .finally(() => {
        if (trimming.running === running) trimming.running = undefined;
      });
    trimming.which = which;
    return (trimming.running = running);
  }

  async #remove(tenant: string, which: Which): Promise<boolean> {
    const trimming = this.#of(tenant);
    const queue = await this.#parts.queues.find(tenant);
    const durables = queue ? await this.#durables(tenant) : [];
    if (!queue || durables.length === 0) return false;
    trimming.now(queue.name);
    const floor = lowestFloor(durables);
    const bound = which === 'all' ? floor : least(floor, trimming.lastStoredBefore(this.#agedMs(trimming)));
    const purged = bound >= BigInt(queue.info.state.first_seq) ? await this.#purge(tenant, bound) : 0;
    const mixed = await this.#removeMixed(tenant, durables, floor + 1n, which);
    trimming.dropUpTo(bound);
    return purged + mixed > 0;
  }

  async #purge(tenant: string, last: bigint): Promise<number> {
    const { manager, names, queues } = this.#parts;
    const purge = { seq: Number(last + 1n) };
    return (await queues.ask(() => manager.streams.purge(names.queueStream(tenant), purge))).purged;
  }

  /** Acked behind a message that is not: a message that nobody can process must not keep everything after it. */
  async #removeMixed(tenant: string, durables: readonly ConsumerInfo[], from: bigint, which: Which): Promise<number> {
    const trimming = this.#of(tenant);
    const agedMs = which === 'all' ? Infinity : this.#agedMs(trimming);
    let removed = 0;
    for (const durable of durables) {
      const runs = trimming.runsOf(durable.name);
      const to = lowestFloor(durables.filter((other) => other !== durable));
      for (const run of runs.runs.filter((one) => one.from >= from && one.to <= to && one.storedAtMs < agedMs)) {
        if (removed >= DELETES_MAX) return removed;
        removed += await this.#removeRun(tenant, run);
        runs.drop(run);
      }
    }
    return removed;
  }

  async #removeRun(tenant: string, { from, to }: Run): Promise<number> {
    const { manager, names, queues } = this.#parts;
    const stream = names.queueStream(tenant);
    const removeOne = (seq: bigint) =>
      queues
        .ask(() => manager.streams.deleteMessage(stream, Number(seq), false))
        .catch((thrown: unknown) => {
          if (refusalNumber(thrown) !== REFUSED.notDeleted) throw thrown;
          return false;
        });
    for (let seq = from; seq <= to; seq += BigInt(DELETES_TOGETHER)) {
      const count = Math.min(DELETES_TOGETHER, Number(to - seq) + 1);
      await Promise.all(Array.from({ length: count }, (_, at) => removeOne(seq + BigInt(at))));
    }
    return Number(to - from) + 1;
  }

  async #durables(tenant: string): Promise<readonly ConsumerInfo[]> {
    const { manager, names, queues } = this.#parts;
    return queues.call(async () => {
      const found: ConsumerInfo[] = [];
      for await (const info of manager.consumers.list(names.queueStream(tenant))) found.push(info);
      return found.filter(({ config }) => config.durable_name !== undefined);
    });
  }

  #agedMs({ nowMs }: Trimming): number {
    return nowMs - this.#parts.duplicateWindowMs;
  }

  #of(tenant: string): Trimming {
    const known = this.#tenants.get(tenant) ?? new Trimming();
    this.#tenants.set(tenant, known);
    return known;
  }
}
