import { type Socket, connect } from 'node:net';
import type { NotifyFolder } from './notify-folder.ts';

/** What may wait for one listener that does not read; more is lost for it. */
const UNSENT_BYTES_MAX = 1024 * 1024;

/** Connections to all who listen. Whoever cannot be reached, or does not read, loses what it was told. */
export class NotifyPeers {
  readonly #folder: NotifyFolder;
  readonly #own: string;
  readonly #sockets = new Map<string, Socket>();

  constructor(folder: NotifyFolder, own: string) {
    this.#folder = folder;
    this.#own = own;
  }

  /** The folder is read each time: who listens since a moment ago is told too. */
  tell(lines: string): void {
    const listening = new Set(this.#folder.sockets());
    listening.delete(this.#own);
    for (const name of listening) this.#tellOne(name, lines);
    for (const [name, socket] of this.#sockets) if (!listening.has(name)) socket.destroy();
  }

  close(): void {
    for (const socket of this.#sockets.values()) socket.destroy();
  }

  #tellOne(name: string, lines: string): void {
    const socket = this.#sockets.get(name) ?? this.#connect(name);
    if (socket !== undefined && socket.writableLength < UNSENT_BYTES_MAX) socket.write(lines);
  }

  #connect(name: string): Socket | undefined {
    const address = this.#folder.address(name);
    if (address === undefined) return undefined;
    const socket = connect(address);
    this.#sockets.set(name, socket);
    socket.on('error', (error: NodeJS.ErrnoException) => this.#failed(name, error));
    socket.on('close', () => this.#sockets.delete(name));
    return socket;
  }

  /** A socket that refuses belonged to a process that was killed: a living one has its name only since it listens. */
  #failed(name: string, { code }: NodeJS.ErrnoException): void {
    if (code === 'ECONNREFUSED') this.#folder.remove(name);
  }
}
