import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { parseInt64 } from '@tidemark/libs-wire';

/** What a page shows of one stream. */
export interface SeenStream {
  readonly stream: string;
  /** `unseen`: it is not in the page. */
  readonly counter: bigint | 'unseen' | 'unreadable';
  /** Its newest op of the page; 0: none. */
  readonly top: bigint;
}

/** In the order of the page. */
export function streamsOf(items: readonly Record<string, AttributeValue>[]): SeenStream[] {
  const seen = new Map<string, SeenStream>();
  for (const item of items) {
    const stream = item['stream_id']?.S;
    const seq = parseInt64(item['seq']?.N ?? '');
    if (stream === undefined || seq === null) continue;
    const before = seen.get(stream) ?? { stream, counter: 'unseen' as const, top: 0n };
    seen.set(stream, seq === 0n ? { ...before, counter: counterOf(item) } : { ...before, top: max(before.top, seq) });
  }
  return [...seen.values()];
}

/** A counter may stand behind the ops: one that was lost and made again, or one that an older writer has not moved yet. */
export function headOf({ counter, top }: SeenStream): bigint {
  return typeof counter === 'bigint' ? max(counter, top) : top;
}

function counterOf(item: Record<string, AttributeValue>): bigint | 'unreadable' {
  const next = parseInt64(item['next_seq']?.N ?? '');
  return next === null || next < 0n ? 'unreadable' : next;
}

const max = (a: bigint, b: bigint) => (a > b ? a : b);
