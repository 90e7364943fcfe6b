import type { ManualTime } from '@tidemark/libs-kernel/testing';
import type { Feed } from '../feed.ts';

export interface FeedHarness {
  readonly time: ManualTime;
  /** Resolves when servers have answered whatever they were asked; only then may time pass. Not there: nothing is asked of a server. */
  answered?(): Promise<void>;
  /** A new handle, as a worker has after a start; the handle before it is gone, as after a crash. */
  open(): Promise<Feed>;
  /** The stream takes appends until its head is `head`; heads of a stream only rise. */
  announce(stream: string, head: bigint): Promise<void>;
}
