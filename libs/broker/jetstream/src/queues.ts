import { Fault, compareUtf8 } from '@tidemark/libs-kernel';
import { type QueueFinding, checkTenant } from '@tidemark/libs-broker-contract';
import type { JetStreamManager, StreamInfo } from 'nats';
import type { BrokerLog, Link } from './link.ts';
import { REFUSED, refusalNumber, throwFault } from './map-error.ts';
import type { Names } from './names.ts';
import { baseOf } from './places.ts';
import { streamsOf, verifyTenant } from './topology.ts';
import {
  type StreamSettings,
  type WantedStream,
  deadLetterStream,
  differences,
  lasting,
  leaseStream,
  queueStream,
} from './stream-config.ts';

export interface QueuesParts {
  readonly link: Link;
  readonly manager: JetStreamManager;
  readonly names: Names;
  readonly settings: StreamSettings;
  readonly managed: boolean;
  readonly callPatienceMs: number;
  readonly log: BrokerLog;
}

/** One incarnation of a tenant's queue: a stream that is deleted and made again is another one. */
export interface Queue {
  readonly stream: string;
  /** Name of the queue in deliveries. */
  readonly name: string;
  /** What is added to the server's numbers. */
  readonly base: bigint;
  readonly info: StreamInfo;
}

const ROUNDS_MAX = 3;

/** The tenants' streams. */
export class Queues {
  readonly #parts: QueuesParts;
  /** Budgets that this process asked for. */
  readonly #budgets = new Map<string, bigint>();
  /** Of each tenant's queue as it was seen last, and the newest number that a publish got. */
  readonly #bases = new Map<string, { readonly base: bigint; last: number }>();
  /** Of each queue by its name, the message that was the oldest when somebody asked last. */
  readonly #oldest = new Map<string, { readonly from: bigint; readonly storedAtMs: number }>();

  constructor(parts: QueuesParts) {
    this.#parts = parts;
  }

  async open(tenant: string, bytesMax: bigint): Promise<void> {
    const { names, settings, managed } = this.#parts;
    if (!managed) {
      await verifyTenant({ ...this.#parts, queues: this }, tenant);
      this.#budgets.set(tenant, bytesMax);
      return;
    }
    // Dead letters first: a message that can be stored can be parked.
    const held = (await this.#info(names.deadLetterStream(tenant)))?.state.bytes ?? 0;
    await this.ensure(deadLetterStream(names, tenant, bytesMax, held, settings));
    await this.ensure(queueStream(names, tenant, bytesMax, settings));
    this.#budgets.set(tenant, bytesMax);
  }

  /** A queue of this process that was deleted is made again; false for one that was never opened here. */
  async reopen(tenant: string): Promise<boolean> {
    const bytesMax = this.#budgets.get(tenant);
    if (bytesMax === undefined || !this.#parts.managed) return false;
    await this.open(tenant, bytesMax);
    return true;
  }

  /** Every queue that was opened here, and the leases, as they are by now. */
  async verify(): Promise<QueueFinding[]> {
    const { names, settings } = this.#parts;
    const leases = leaseStream(names, settings);
    const found = await this.#verify(null, [lasting(leases)], () => this.ensure(leases));
    for (const tenant of this.#budgets.keys()) {
      const wanted = streamsOf(tenant, names, settings).map(lasting);
      found.push(...(await this.#verify(tenant, wanted, () => this.reopen(tenant))));
    }
    return found;
  }

  async list(): Promise<readonly string[]> {
    const { manager, names } = this.#parts;
    const streams = await this.call(async () => {
      const found: string[] = [];
      for await (const name of manager.streams.names(names.everyQueueSubject)) found.push(name);
      return found;
    });
    return streams
      .map((stream) => names.tenantOf(stream))
      .filter((tenant) => tenant !== null)
      .sort(compareUtf8);
  }

  async find(tenant: string): Promise<Queue | undefined> {
    checkTenant(tenant);
    const stream = this.#parts.names.queueStream(tenant);
    const info = await this.#info(stream);
    if (!info) return undefined;
    const base = baseOf(info.created);
    if (this.#bases.get(tenant)?.base !== base) this.#bases.set(tenant, { base, last: 0 });
    return { stream, name: `${stream} ${info.created}`, base, info };
  }

  /** Where a publish stored its message. A number that is not above the last one is of a queue that was made again. */
  async placeOf(tenant: string, number: number, duplicate: boolean): Promise<bigint> {
    const known = this.#bases.get(tenant);
    if (known && (duplicate || number > known.last)) {
      known.last = Math.max(known.last, number);
      return known.base + BigInt(number);
    }
    return ((await this.find(tenant))?.base ?? 0n) + BigInt(number);
  }

  async get(tenant: string): Promise<Queue> {
    const queue = await this.find(tenant);
    if (!queue) throw new Fault('not_found', `tenant ${tenant} has no queue`);
    return queue;
  }

  /** Makes the stream as wanted, and leaves what is not ours of one that is there. */
  async ensure(wanted: WantedStream): Promise<void> {
    const { manager } = this.#parts;
    for (let round = 1; ; round++) {
      const info = await this.#info(wanted.name);
      if (info && differences(info.config, wanted).length === 0) return;
      try {
        if (info) await this.ask(() => manager.streams.update(wanted.name, { ...info.config, ...wanted }));
        else await this.ask(() => manager.streams.add(wanted));
        return;
      } catch (thrown) {
        // Somebody else made it, or deleted it, in between.
        const raced = [REFUSED.streamExists, REFUSED.streamNotFound].some((one) => one === refusalNumber(thrown));
        if (!raced || round === ROUNDS_MAX) throwFault(thrown);
      }
    }
  }

  /** How streams that are there, or not, differ from what is wanted. */
  async findings(wanted: readonly WantedStream[]): Promise<string[]> {
    const found: string[] = [];
    for (const one of wanted) {
      const info = await this.#info(one.name);
      found.push(...(info ? differences(info.config, one) : [`${one.name}: is not there`]));
    }
    return found;
  }

  /** When the first message from that number on was stored, by the server's clock; undefined when there is none. */
  async storedAtMs({ stream, name }: Queue, from: bigint): Promise<number | undefined> {
    // A message that waits is the oldest one for a long time.
    const known = this.#oldest.get(name);
    if (known?.from === from) return known.storedAtMs;
    try {
      const query = { seq: Number(from), next_by_subj: '>' };
      const { time } = await this.ask(() => this.#parts.manager.streams.getMessage(stream, query));
      this.#oldest.set(name, { from, storedAtMs: time.getTime() });
      return time.getTime();
    } catch (thrown) {
      if (refusalNumber(thrown) === REFUSED.noMessage) return undefined;
      return throwFault(thrown);
    }
  }

  ask<T>(send: () => Promise<T>): Promise<T> {
    this.#parts.link.checkOpen();
    return this.#parts.link.ask(send, this.#parts.callPatienceMs);
  }

  call<T>(send: () => Promise<T>): Promise<T> {
    return this.ask(send).catch(throwFault);
  }

  async #verify(tenant: string | null, wanted: readonly WantedStream[], make: () => Promise<unknown>) {
    const { managed } = this.#parts;
    const found = await this.findings(wanted);
    if (managed && found.length > 0) await this.#mend(tenant, wanted, make);
    const left = managed && found.length > 0 ? await this.findings(wanted) : found;
    const mended = found.filter((detail) => !left.includes(detail));
    return [
      ...mended.map((detail) => ({ tenant, detail, mended: true })),
      ...left.map((detail) => ({ tenant, detail, mended: false })),
    ];
  }

  async #mend(tenant: string | null, wanted: readonly WantedStream[], make: () => Promise<unknown>): Promise<void> {
    try {
      for (const stream of wanted) await ((await this.#info(stream.name)) ? this.ensure(stream) : make());
    } catch (thrown) {
      this.#parts.log.warn({ tenant, err: thrown }, 'a queue that was changed cannot be put right');
    }
  }

  async #info(stream: string): Promise<StreamInfo | undefined> {
    try {
      return await this.ask(() => this.#parts.manager.streams.info(stream));
    } catch (thrown) {
      if (refusalNumber(thrown) === REFUSED.streamNotFound) return undefined;
      return throwFault(thrown);
    }
  }
}
