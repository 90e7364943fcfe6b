import { once } from 'node:events';
import { renameSync } from 'node:fs';
import { type Server, type Socket, createServer } from 'node:net';
import { NOTIFICATION_BYTES_MAX, type NotificationWatch } from '@tidemark/libs-broker-contract';
import { Fault } from '@tidemark/libs-kernel';
import type { NotifyFolder } from './notify-folder.ts';
import { messageOf } from './sqlite-code.ts';

/** Every character of a line may be escaped. */
const LINE_CHARS_MAX = 6 * NOTIFICATION_BYTES_MAX + 64;
const CONNECTIONS_MAX = 1000;

type Listener = (detail: string) => void;

/** Hears what others tell, on a socket that is there from the first one who listens until the close. */
export class NotifyListener {
  readonly #folder: NotifyFolder;
  readonly #name: string;
  readonly #listeners = new Map<string, Set<Listener>>();
  readonly #connections = new Set<Socket>();
  #server: Promise<Server> | undefined;

  constructor(folder: NotifyFolder, name: string) {
    this.#folder = folder;
    this.#name = name;
  }

  async listen(topic: string, listener: Listener): Promise<NotificationWatch> {
    this.#server ??= this.#open();
    try {
      await this.#server;
    } catch (thrown) {
      this.#server = undefined;
      throw new Fault('unavailable', `notifications: ${messageOf(thrown)}`, { cause: thrown });
    }
    const own: Listener = (detail) => listener(detail);
    this.#listeners.set(topic, (this.#listeners.get(topic) ?? new Set()).add(own));
    return { close: async () => void this.#listeners.get(topic)?.delete(own) };
  }

  async close(): Promise<void> {
    this.#listeners.clear();
    const server = await this.#server?.catch(() => undefined);
    this.#server = undefined;
    if (server === undefined) return;
    this.#folder.remove(this.#name);
    const closed = once(server, 'close');
    server.close();
    for (const socket of this.#connections) socket.destroy();
    await closed;
  }

  /** The socket gets its name when it is listened on: until then others would take it for a dead one. */
  async #open(): Promise<Server> {
    this.#folder.make();
    const address = this.#folder.address(`${this.#name}.new`);
    if (address === undefined) throw new Error('the path of the data folder is too long for a socket');
    const server = createServer((socket) => this.#hear(socket));
    server.maxConnections = CONNECTIONS_MAX;
    server.listen(address);
    await once(server, 'listening');
    server.on('error', () => {}); // Who could not be accepted polls.
    renameSync(this.#folder.path(`${this.#name}.new`), this.#folder.path(this.#name));
    return server;
  }

  #hear(socket: Socket): void {
    this.#connections.add(socket);
    socket.on('close', () => this.#connections.delete(socket));
    socket.on('error', () => socket.destroy());
    socket.setEncoding('utf8');
    let begun = '';
    socket.on('data', (chunk: string) => {
      const lines = (begun + chunk).split('\n');
      begun = lines.pop() ?? '';
      if (begun.length > LINE_CHARS_MAX || !lines.every((line) => this.#dispatch(line))) socket.destroy();
    });
  }

  /** False for what no notifier of ours says. */
  #dispatch(line: string): boolean {
    const told = parsed(line);
    if (told === undefined) return false;
    for (const listener of this.#listeners.get(told[0]) ?? []) listener(told[1]);
    return true;
  }
}

function parsed(line: string): [string, string] | undefined {
  try {
    const [topic, detail] = JSON.parse(line) as unknown[];
    return typeof topic === 'string' && typeof detail === 'string' ? [topic, detail] : undefined;
  } catch {
    return undefined;
  }
}
