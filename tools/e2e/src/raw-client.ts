import { type Socket, connect } from 'node:net';

/** One connection that speaks bytes, read as text. A reset shows as the text `RESET`. */
export class RawClient {
  readonly socket: Socket;
  #text = '';
  #closed = false;
  #heard: (() => void)[] = [];

  constructor(url: string) {
    const { hostname, port } = new URL(url);
    this.socket = connect({ host: hostname, port: Number(port) });
    this.socket.on('data', (chunk) => this.#hear(chunk.toString('latin1')));
    this.socket.on('error', (error: NodeJS.ErrnoException) => this.#hear(error.code === 'ECONNRESET' ? 'RESET' : ''));
    this.socket.on('close', () => {
      this.#closed = true;
      this.#hear('');
    });
  }

  #hear(text: string): void {
    this.#text += text;
    for (const look of this.#heard.splice(0)) look();
  }

  write(text: string | Uint8Array): void {
    this.socket.write(text);
  }

  /** Everything that came until the connection closed. */
  async all(): Promise<string> {
    while (!this.#closed) await new Promise<void>((resolve) => this.#heard.push(resolve));
    return this.#text;
  }

  /** What came so far, as soon as it matches. */
  async until(pattern: RegExp): Promise<string> {
    while (!pattern.test(this.#text)) {
      if (this.#closed) throw new Error(`closed without ${pattern}: ${this.#text}`);
      await new Promise<void>((resolve) => this.#heard.push(resolve));
    }
    return this.#text;
  }
}
