import { resolve } from 'node:path';
import { type NotificationWatch, isTellable } from '@tidemark/libs-broker-contract';
import { Fault, type Random, type Sleeper } from '@tidemark/libs-kernel';
import { NotifyFolder, socketName } from './notify-folder.ts';
import { NotifyListener } from './notify-listener.ts';
import { NotifyPeers } from './notify-peers.ts';

export interface NotificationsOptions {
  readonly folder: string;
  readonly sleeper: Sleeper;
  readonly random: Random;
}

/** What may wait for the end of one turn; more is lost. */
const PENDING_BYTES_MAX = 1024 * 1024;

/**
 * Hints between the processes of one host, through a Unix socket of each listener in a folder beside the queue. Nothing is written to a
 * disk, so that the queue's fsyncs carry nothing of it, and nobody looks: an idle process costs nothing (ADR 0008).
 */
export class Notifications {
  readonly #sleeper: Sleeper;
  readonly #folder: NotifyFolder;
  readonly #peers: NotifyPeers;
  readonly #listener: NotifyListener;
  /** Lines of this turn, in order, each once. */
  readonly #pending = new Set<string>();
  #pendingBytes = 0;
  #closed = false;

  constructor({ folder, sleeper, random }: NotificationsOptions) {
    const own = socketName(Buffer.from(random.bytes(8)).toString('hex'));
    this.#sleeper = sleeper;
    this.#folder = new NotifyFolder(resolve(folder));
    this.#peers = new NotifyPeers(this.#folder, own);
    this.#listener = new NotifyListener(this.#folder, own);
  }

  notify(topic: string, detail: string): void {
    if (this.#closed || !isTellable(topic, detail)) return;
    const line = `${JSON.stringify([topic, detail])}\n`;
    if (this.#pending.has(line) || this.#pendingBytes + line.length > PENDING_BYTES_MAX) return;
    if (this.#pending.size === 0) void this.#tellAfterThisTurn();
    this.#pending.add(line);
    this.#pendingBytes += line.length;
  }

  async onNotify(topic: string, listener: (detail: string) => void): Promise<NotificationWatch> {
    if (this.#closed) throw new Fault('unavailable', 'the broker is closed');
    return this.#listener.listen(topic, listener);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#peers.close();
    await this.#listener.close();
    this.#folder.close();
  }

  async #tellAfterThisTurn(): Promise<void> {
    await this.#sleeper.sleep(0);
    const lines = [...this.#pending].join('');
    this.#pending.clear();
    this.#pendingBytes = 0;
    if (!this.#closed) this.#peers.tell(lines);
  }
}
