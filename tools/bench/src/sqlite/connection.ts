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
  /** Of the answer that is arriving: its head, its body as far as it came, and how much that is. */
  #head = '';
  #body: Buffer | undefined;
  #bodyBytes = 0;
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

  post(place: string, body: string, type = 'application/json'): Promise<Answer> {
    const length = Buffer.byteLength(body);
    return this.#ask(
      `POST ${place} HTTP/1.1\r\nhost: ${this.#host}\r\ncontent-type: ${type}\r\ncontent-length: ${length}\r\n\r\n${body}`,
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
    const rest = this.#body === undefined ? this.#receiveHead(chunk) : chunk;
    const body = this.#body;
    if (body === undefined) return;
    this.#bodyBytes += rest.copy(body, this.#bodyBytes);
    if (this.#bodyBytes < body.length) return;
    const head = this.#head;
    this.#head = '';
    this.#body = undefined;
    this.#waiting?.resolve({ status: Number(head.slice(9, 12)), head, body });
  }

  /** Answers what of the chunk stands behind the head. */
  #receiveHead(chunk: Buffer): Buffer {
    const before = this.#head.length;
    this.#head += chunk.toString('latin1');
    const end = this.#head.indexOf('\r\n\r\n');
    if (end < 0) return NOTHING;
    this.#head = this.#head.slice(0, end);
    this.#body = Buffer.allocUnsafe(Number(/content-length: (\d+)/i.exec(this.#head)?.[1] ?? 0));
    this.#bodyBytes = 0;
    return chunk.subarray(end + 4 - before);
  }
}

const NOTHING = Buffer.alloc(0);
