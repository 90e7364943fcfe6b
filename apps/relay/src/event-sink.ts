import type { ServerResponse } from 'node:http';
import type { FastifyReply } from 'fastify';
import type { EventSink } from '@tidemark/libs-relay';

const HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-store',
  // Some proxies hold an answer back until it is whole.
  'x-accel-buffering': 'no',
};

/** Sends the head of a stream of events, past the framework: what follows has no end that it could wait for. */
export function beginEvents(reply: FastifyReply): ServerResponse {
  const headers = { ...reply.getHeaders(), ...HEADERS };
  reply.hijack();
  reply.raw.writeHead(200, headers as NodeJS.Dict<string | number | string[]>);
  reply.raw.flushHeaders();
  return reply.raw;
}

/** The connection of one reader of events. */
export class ResponseSink implements EventSink {
  readonly #response: ServerResponse;

  constructor(response: ServerResponse) {
    this.#response = response;
    response.on('error', () => {}); // `close` follows.
  }

  write(bytes: Uint8Array): boolean {
    return this.#response.write(bytes);
  }

  taken(): Promise<void> {
    const response = this.#response;
    if (!response.writableNeedDrain || response.destroyed) return Promise.resolve();
    return new Promise((resolve) => {
      const done = () => {
        response.off('drain', done);
        response.off('close', done);
        resolve();
      };
      response.on('drain', done);
      response.on('close', done);
    });
  }

  end(): void {
    this.#response.end();
  }

  drop(): void {
    this.#response.destroy();
  }
}
