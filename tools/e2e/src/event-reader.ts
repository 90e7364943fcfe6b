import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';

/** A reader of a stream of events that remembers the last event it has whole, and can be made to read nothing. */
export class EventReader {
  /** Op ids of whole events, in order. */
  readonly ids: string[] = [];
  lastEventId: string | undefined;
  ended = false;
  readonly #request: ClientRequest;
  #message: IncomingMessage | undefined;
  #text = '';
  #heard = () => {};

  private constructor(url: string, lastEventId: string | undefined) {
    const headers = { accept: 'text/event-stream', ...(lastEventId !== undefined && { 'last-event-id': lastEventId }) };
    this.#request = request(url, { headers, agent: false });
    this.#request.on('error', () => this.#end());
    this.#request.end();
  }

  /** Resolves when the stream of events has begun. */
  static async open(relay: string, stream: string, lastEventId?: string): Promise<EventReader> {
    const reader = new EventReader(`${relay}/streams/${stream}/ops`, lastEventId);
    const [message] = (await once(reader.#request, 'response')) as [IncomingMessage];
    if (message.statusCode !== 200) throw new Error(`the stream of events is answered ${message.statusCode}`);
    reader.#message = message;
    reader.lastEventId = lastEventId;
    message.setEncoding('utf8').on('data', (chunk: string) => reader.#read(chunk));
    message.on('error', () => {}).on('close', () => reader.#end());
    return reader;
  }

  pause(): void {
    this.#message?.pause();
  }

  resume(): void {
    this.#message?.resume();
  }

  close(): void {
    this.#request.destroy();
  }

  /** Resolves when so many ops have come, or the stream of events has ended. */
  async until(count: number): Promise<void> {
    while (this.ids.length < count && !this.ended) await this.#next();
  }

  async untilEnded(): Promise<void> {
    while (!this.ended) await this.#next();
  }

  #next(): Promise<void> {
    return new Promise((resolve) => (this.#heard = resolve));
  }

  #end(): void {
    this.ended = true;
    this.#heard();
  }

  #read(chunk: string): void {
    const blocks = (this.#text + chunk).split('\n\n');
    this.#text = blocks.pop() ?? '';
    for (const block of blocks) {
      const [, id, data] = /^id: (\d+)\ndata: (.*)$/.exec(block) ?? [];
      if (id === undefined || data === undefined) continue;
      const { ops } = JSON.parse(data) as { ops: { op_id: string }[] };
      this.ids.push(...ops.map(({ op_id }) => op_id));
      this.lastEventId = id;
    }
    this.#heard();
  }
}
