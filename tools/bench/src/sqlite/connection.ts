import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

export interface Answer {
  readonly status: number;
  readonly head: string;
  readonly body: Buffer;
}

/** One kept-alive HTTP connection, one request at a time: as little work as possible beside the server that is measured. */
export class Connection {
  readonly #socket: Socket;
  readonly #host: string;
  #received: Buffer = Buffer.alloc(0);
  #waiting: { resolve: (answer: Answer) => void; reject: (error: Error) => void } | undefined;

  private constructor(socket: Socket, host: string) {
    this.#socket = socket;
    this.#host = host;
    socket.setNoDelay(true);
    socket.on('data', (chunk: Buffer) => this.#receive(chunk));
    socket.on('error', (error) => this.#waiting?.reject(error));
    socket.on('close', () => this.#waiting?.reject(new Error('the connection was closed')));
  }

  static async open(url: string): Promise<Connection> {
    const { hostname, port, host } = new URL(url);
    const socket = connect(Number(port), hostname);
    await once(socket, 'connect');
    return new Connection(socket, host);
  }

  post(place: string, body: string): Promise<Answer> {
    const length = Buffer.byteLength(body);
    return this.#ask(
      `POST ${place} HTTP/1.1\r\nhost: ${this.#host}\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n\r\n${body}`,
    );
  }

  get(place: string): Promise<Answer> {
    return this.#ask(`GET ${place} HTTP/1.1\r\nhost: ${this.#host}\r\n\r\n`);
  }

  close(): void {
    this.#socket.destroy();
  }

  #ask(text: string): Promise<Answer> {
    return new Promise((resolve, reject) => {
      // A server closes a connection on which nothing was asked for a while; then nothing would ever come.
      if (this.#socket.destroyed || this.#socket.readableEnded) return reject(new Error('the connection was closed'));
      this.#waiting = { resolve, reject };
      this.#socket.write(text);
    });
  }

  #receive(chunk: Buffer): void {
    this.#received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk]);
    const end = this.#received.indexOf('\r\n\r\n');
    if (end < 0) return;
    const head = this.#received.toString('latin1', 0, end);
    const length = Number(/content-length: (\d+)/i.exec(head)?.[1]);
    if (this.#received.length < end + 4 + length) return;
    const body = this.#received.subarray(end + 4, end + 4 + length);
    this.#received = Buffer.alloc(0);
    this.#waiting?.resolve({ status: Number(head.slice(9, 12)), head, body });
  }
}
