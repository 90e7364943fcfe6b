import type { Feed } from '@tidemark/libs-feed-contract';
import type { Clock, Sleeper } from '@tidemark/libs-kernel';
import type { IndexedOpStore } from '@tidemark/libs-op-store-contract';
import { OpStoreFeed } from './op-store-feed.ts';

export interface OpStoreFeedOptions {
  readonly opStore: IndexedOpStore;
  readonly clock: Clock;
  readonly sleeper: Sleeper;
  /** First wait after a change; doubles while nothing comes, up to pollMsMax. */
  readonly pollMsMin?: number;
  readonly pollMsMax?: number;
  /** How often every stream is named again, so that nothing stays unseen for longer. */
  readonly passMs?: number;
}

/** A feed that looks at the log itself. Closing it leaves the store open: who opened the store closes it. */
export async function connectOpStoreFeed(options: OpStoreFeedOptions): Promise<Feed> {
  return new OpStoreFeed({ pollMsMin: 2, pollMsMax: 100, passMs: 60_000, ...options });
}
