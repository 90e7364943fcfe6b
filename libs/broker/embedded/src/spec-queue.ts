/** What the specs of this folder share: brokers on one file in a temporary folder. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Broker } from '@tidemark/libs-broker-contract';
import { type BrokerHarness, passManualTime } from '@tidemark/libs-broker-contract/testing';
import { ManualTime, SeededRandom } from '@tidemark/libs-kernel/testing';
import { type EmbeddedBrokerOptions, connectEmbeddedBroker } from './connect.ts';

/** Opens brokers on one file; `end` closes what is open and removes the folder. */
export class SpecQueue implements BrokerHarness {
  readonly time = new ManualTime();
  readonly folder: string;
  readonly #opened: Broker[] = [];

  private constructor(folder: string) {
    this.folder = folder;
  }

  static async make(): Promise<SpecQueue> {
    return new SpecQueue(await mkdtemp(join(tmpdir(), 'tidemark-queue-')));
  }

  get file(): string {
    return join(this.folder, 'queue.sqlite');
  }

  async open(options: Partial<EmbeddedBrokerOptions> = {}): Promise<Broker> {
    const { folder, time } = this;
    const random = new SeededRandom(this.#opened.length);
    const broker = await connectEmbeddedBroker({ folder, clock: time, sleeper: time, random, ...options });
    this.#opened.push(broker);
    return broker;
  }

  pass(ms: number): Promise<void> {
    return passManualTime(this.time, ms);
  }

  async end(): Promise<void> {
    for (const broker of this.#opened) await broker.close();
    await rm(this.folder, { recursive: true, force: true });
  }
}
