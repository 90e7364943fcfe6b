/**
 * What is added to the server's numbers of messages, which begin at 1 in every incarnation of a stream: the time when it was made, in
 * microseconds. A queue that is made again after a loss goes on above the places it gave before, unless it took a million messages a
 * second all the time. (The server's own `first_seq` would do the same; but 2.10 forgets every message of such a stream when it restarts.)
 */
export function baseOf(created: string): bigint {
  const fraction = /\.(\d+)/.exec(created)?.[1] ?? '';
  const seconds = Math.floor(Date.parse(created) / 1000);
  return BigInt(seconds) * 1_000_000n + BigInt(fraction.padEnd(6, '0').slice(0, 6));
}
