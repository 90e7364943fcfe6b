/** What a text/event-stream holds. A comment says nothing but that the sender is there. */
export type StreamItem =
  | { readonly kind: 'event'; readonly data: string }
  | { readonly kind: 'comment' }
  | { readonly kind: 'retry'; readonly ms: number };

/** Reads a stream of server-sent events in pieces that are cut anywhere. Names and ids of events are passed over. */
export class EventStreamParser {
  #line = '';
  #data: string | null = null;
  /** The piece before ended with a carriage return, which a line feed may belong to. */
  #returned = false;

  /** What the piece completes. */
  *push(piece: string): Generator<StreamItem, void, undefined> {
    let from = this.#returned && piece.startsWith('\n') ? 1 : 0;
    if (piece.length > 0) this.#returned = piece.endsWith('\r');
    const ends = /\r\n|\r|\n/g;
    ends.lastIndex = from;
    for (let end = ends.exec(piece); end !== null; end = ends.exec(piece)) {
      const line = this.#line + piece.slice(from, end.index);
      this.#line = '';
      from = ends.lastIndex;
      const item = this.#read(line);
      if (item !== null) yield item;
    }
    this.#line += piece.slice(from);
  }

  #read(line: string): StreamItem | null {
    if (line === '') return this.#dispatch();
    if (line.startsWith(':')) return { kind: 'comment' };
    const [, name = '', value = ''] = /^([^:]*)(?:: ?)?([^]*)$/.exec(line) ?? [];
    if (name === 'data') this.#data = this.#data === null ? value : `${this.#data}\n${value}`;
    return name === 'retry' && /^\d{1,9}$/.test(value) ? { kind: 'retry', ms: Number(value) } : null;
  }

  #dispatch(): StreamItem | null {
    const data = this.#data;
    this.#data = null;
    return data === null ? null : { kind: 'event', data };
  }
}
