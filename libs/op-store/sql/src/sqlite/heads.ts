import type { Handle } from './open-file.ts';
import { prepareHead } from './streams.ts';
import type { Transaction } from './transaction.ts';

const STREAMS_MAX = 10_000;

/**
 * The heads of the streams, kept from one transaction to the next for as long as no other connection writes the file: asking for one
 * takes as long as storing an op. An erasure moves no head.
 */
export class Heads {
  readonly #stored: (stream: string) => bigint;
  readonly #version: () => number;
  readonly #known = new Map<string, bigint>();
  #knownAt: number | undefined;

  constructor(handle: Handle) {
    this.#stored = prepareHead(handle);
    const version = handle.prepare<[], number>('PRAGMA data_version').pluck();
    this.#version = () => version.get() as number;
  }

  /** The write transaction in which heads may be asked for and moved. */
  within(transaction: Transaction): Transaction {
    return (work) => {
      try {
        return transaction(() => {
          this.#compare();
          return work();
        });
      } catch (thrown) {
        this.#knownAt = undefined;
        throw thrown;
      }
    };
  }

  of(stream: string): bigint {
    return this.#known.get(stream) ?? this.#stored(stream);
  }

  moved(stream: string, head: bigint): void {
    if (this.#known.size >= STREAMS_MAX) this.#known.clear();
    this.#known.set(stream, head);
  }

  /** SQLite counts what others have written, as this transaction sees it. */
  #compare(): void {
    const version = this.#version();
    if (version !== this.#knownAt) this.#known.clear();
    this.#knownAt = version;
  }
}
