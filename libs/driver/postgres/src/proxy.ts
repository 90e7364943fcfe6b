import { once } from 'node:events';
import { createServer, type Server, type Socket, connect } from 'node:net';

/** ReadyForQuery. */
const READY = Buffer.from('Z\0\0\0\x05I', 'latin1');

/** Passes bytes on; when deaf, those of the server are dropped. From `heldFrom` on, what a client sends waits. To a
 * client that may ask its first question `lastWords` come in the same piece. */
export class Proxy {
  isDeaf = false;
  heldFrom: string | null = null;
  lastWords: Buffer | null = null;
  readonly url: string;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #held = Promise.withResolvers<void>();

  private constructor(server: Server, url: string) {
    this.#server = server;
    this.url = url;
  }

  /** At another address of this machine when it is given one. */
  static async before(text: string, address = '127.0.0.1'): Promise<Proxy> {
    const url = new URL(text);
    const [host, port] = [url.hostname, Number(url.port)];
    const server = createServer().listen(0, address);
    await once(server, 'listening');
    url.hostname = address;
    url.port = String((server.address() as { port: number }).port);
    const proxy = new Proxy(server, url.href);
    server.on('connection', (client) => proxy.#join(client, connect(port, host)));
    return proxy;
  }

  /** Resolves when something waits. */
  holds(): Promise<void> {
    return this.#held.promise;
  }

  /** Breaks what is connected. */
  drop(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async close(): Promise<void> {
    this.drop();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #hold(client: Socket): void {
    client.pause();
    this.#held.resolve();
  }

  #join(client: Socket, upstream: Socket): void {
    for (const socket of [client, upstream]) this.#sockets.add(socket.on('error', () => {}));
    client.on('data', (bytes: Buffer) => {
      const held = this.heldFrom === null ? -1 : bytes.indexOf(this.heldFrom);
      upstream.write(held < 0 ? bytes : bytes.subarray(0, held));
      if (held >= 0) this.#hold(client);
    });
    client.on('end', () => upstream.end());
    upstream.on('data', (bytes: Buffer) => {
      if (this.isDeaf) return;
      const isReady = this.lastWords !== null && bytes.subarray(-READY.length).equals(READY);
      client.write(isReady ? Buffer.concat([bytes, this.lastWords as Buffer]) : bytes);
    });
    upstream.on('end', () => client.end());
  }
}
