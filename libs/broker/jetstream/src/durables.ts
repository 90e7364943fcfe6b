import type { ConsumerOptions } from '@tidemark/libs-broker-contract';
import { Fault } from '@tidemark/libs-kernel';
import { type ConsumerInfo, DeliverPolicy, type JetStreamManager } from 'nats';
import { durableDifferences, wantedDurable } from './durable-config.ts';
import type { Incarnation } from './delivery.ts';
import { floorOf } from './floors.ts';
import type { BrokerLog } from './link.ts';
import { REFUSED, refusalNumber, throwFault } from './map-error.ts';
import type { Names } from './names.ts';
import type { Queue, Queues } from './queues.ts';
import type { AckedQueue, Trimmer } from './trimmer.ts';

export interface DurablesParts {
  readonly queues: Queues;
  readonly manager: JetStreamManager;
  readonly names: Names;
  readonly trimmer: Trimmer;
  readonly managed: boolean;
  readonly log: BrokerLog;
}

/** One durable consumer at the server. */
export class Durable {
  readonly tenant: string;
  readonly #options: ConsumerOptions;
  readonly #parts: DurablesParts;
  readonly #stream: string;
  readonly #name: string;
  #queue: Incarnation = { name: '', base: 0n };
  /** As far as it had acked when we last looked: where to go on when it was deleted. */
  #floor = 0n;

  private constructor(tenant: string, options: ConsumerOptions, parts: DurablesParts) {
    this.tenant = tenant;
    this.#options = options;
    this.#parts = parts;
    this.#stream = parts.names.queueStream(tenant);
    this.#name = parts.names.durable(options.name);
  }

  static async open(tenant: string, options: ConsumerOptions, parts: DurablesParts): Promise<Durable> {
    const durable = new Durable(tenant, options, parts);
    await durable.restore();
    return durable;
  }

  get queue(): Incarnation {
    return this.#queue;
  }

  get pullSubject(): string {
    return `$JS.API.CONSUMER.MSG.NEXT.${this.#stream}.${this.#name}`;
  }

  get acked(): AckedQueue {
    return { tenant: this.tenant, name: this.#queue.name, durable: this.#name };
  }

  /** Number of the newest message that is stored by now. */
  async lastStored(): Promise<number> {
    return (await this.#parts.queues.get(this.tenant)).info.state.last_seq;
  }

  /** Whether the consumer has not heard of that message yet. A server tells its consumers a moment after it answered the publisher. */
  async lagsBehind(last: number): Promise<boolean> {
    return (await this.#present()).delivered.stream_seq < last;
  }

  async pending(): Promise<bigint> {
    const { queues, trimmer } = this.#parts;
    const { state } = (await queues.get(this.tenant)).info;
    const [info] = await trimmer.inStep(state, async () => [await this.#present()]);
    return BigInt(info!.num_pending + info!.num_ack_pending);
  }

  #present(): Promise<ConsumerInfo> {
    return this.#parts.queues.call(() => this.#parts.manager.consumers.info(this.#stream, this.#name));
  }

  /** Makes the consumer when it is not there: at the oldest message that others have not acked, or where it was when it was deleted. */
  async restore(): Promise<void> {
    const queue = await this.#parts.queues.get(this.tenant);
    const isNew = this.#queue.name !== queue.name;
    if (isNew) this.#floor = 0n;
    const info = (await this.#info()) ?? (await this.#make(queue));
    this.#queue = queue;
    this.#floor = floorOf(info);
    await this.#align(info);
  }

  async #make(queue: Queue): Promise<ConsumerInfo> {
    const { managed, queues, manager, trimmer, log } = this.#parts;
    if (!managed) throw new Fault('misconfigured', `${this.#stream}: the durable consumer ${this.#name} is not there`);
    if (this.#queue.name === queue.name)
      log.warn(
        { tenant: this.tenant, consumer: this.#options.name },
        'a durable consumer was deleted and is made again',
      );
    const start = this.#floor > 0n ? this.#floor + 1n : await trimmer.startOf(this.tenant);
    const begins =
      start > 0n
        ? { deliver_policy: DeliverPolicy.StartSequence, opt_start_seq: Number(start) }
        : { deliver_policy: DeliverPolicy.All };
    try {
      return await queues.ask(() => manager.consumers.add(this.#stream, { ...this.#wanted(), ...begins }));
    } catch (thrown) {
      // Another process made it in between, from its own point of view.
      const made = refusalNumber(thrown) === REFUSED.consumerExists ? await this.#info() : undefined;
      return made ?? throwFault(thrown);
    }
  }

  /** The ack wait is the newest caller's; anything else must be as we make it. */
  async #align({ config }: ConsumerInfo): Promise<void> {
    const { managed, queues, manager } = this.#parts;
    const findings = durableDifferences(config);
    if (findings.length > 0)
      throw new Fault('misconfigured', `${this.#stream}, consumer ${this.#name}: ${findings.join('; ')}`);
    const { ack_wait, max_ack_pending } = this.#wanted();
    if (!managed || (config.ack_wait === ack_wait && config.max_ack_pending === max_ack_pending)) return;
    await queues.call(() =>
      manager.consumers.update(this.#stream, this.#name, { ...config, ack_wait, max_ack_pending }),
    );
  }

  #wanted() {
    return wantedDurable(this.#name, this.#options.ackWaitMs);
  }

  async #info(): Promise<ConsumerInfo | undefined> {
    const { queues, manager } = this.#parts;
    try {
      return await queues.ask(() => manager.consumers.info(this.#stream, this.#name));
    } catch (thrown) {
      if (refusalNumber(thrown) === REFUSED.consumerNotFound) return undefined;
      return throwFault(thrown);
    }
  }
}
