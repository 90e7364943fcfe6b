import type { Feed } from '@tidemark/libs-feed-contract';
import type { Clock, Sleeper } from '@tidemark/libs-kernel';
import type { IndexedOpStore } from '@tidemark/libs-op-store-contract';
import { Doorbells, type Bell } from './doorbells.ts';
import { OpStoreFeed } from './op-store-feed.ts';

export interface OpStoreFeedOptions {
  readonly opStore: IndexedOpStore;
  readonly clock: Clock;
  readonly sleeper: Sleeper;
  /** What tells of appends: the store's own watch, a broker's notifications. Each is a hint, and polling goes on beside them. */
  readonly bells?: readonly Bell[];
  /** First wait after a change; doubles while nothing comes, up to pollMsMax. */
  readonly pollMsMin?: number;
  /** Default: 100, and 1000 where a bell rings. */
  readonly pollMsMax?: number;
  /** How often every stream is named again, so that nothing stays unseen for longer. */
  readonly passMs?: number;
}

const POLL_MS_MIN = 2;
const POLL_MS_MAX = 100;
const HEARD_POLL_MS_MAX = 1000;
const PASS_MS = 60_000;

/** A feed that looks at the log itself. Closing it leaves the store open: who opened the store closes it. */
export async function connectOpStoreFeed(options: OpStoreFeedOptions): Promise<Feed> {
  const { opStore, clock, sleeper, bells = [], pollMsMin = POLL_MS_MIN, passMs = PASS_MS } = options;
  const doorbells = await Doorbells.listen(bells);
  const pollMsMax = options.pollMsMax ?? (doorbells.count > 0 ? HEARD_POLL_MS_MAX : POLL_MS_MAX);
  return new OpStoreFeed({ opStore, clock, sleeper, doorbells, pollMsMin, pollMsMax, passMs });
}
