import type { ManualTime } from '@tidemark/libs-kernel/testing';
import type { Feed } from '../feed.ts';

export interface FeedHarness {
  readonly time: ManualTime;
  /** A new handle, as a worker has after a start. */
  open(): Promise<Feed>;
  /** The stream takes appends until its head is `head`; heads of a stream only rise. */
  announce(stream: string, head: bigint): Promise<void>;
}
