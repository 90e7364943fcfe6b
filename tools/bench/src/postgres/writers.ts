import { anOp } from '@tidemark/libs-op-store-contract/testing';
import type { Op } from '@tidemark/libs-wire';

export interface Shape {
  readonly connections: number;
  readonly streams: number;
  /** Ops in a push, or rows in a transaction. */
  readonly batch: number;
}

export interface Writers {
  readonly name: string;
  /** Writes on every connection until then; answers how many ops. */
  write(untilMs: number): Promise<number>;
  /** Reads back whatever was answered; answers how many ops. */
  verify(): Promise<number>;
  close(): Promise<void>;
}

let made = 0;

/** About 300 bytes each as JSON, with ids as long as real ones. */
export function freshOps(n: number): Op[] {
  return Array.from({ length: n }, () =>
    anOp({
      opId: `01JB2Q6T5V${String(made++).padStart(16, '0')}`,
      site: 7_203_685_477_580_712_345n,
      value: 'v'.repeat(60),
    }),
  );
}

/** The work on all connections, each again and again until then. */
export async function onAll(
  connections: number,
  untilMs: number,
  work: (connection: number) => Promise<number>,
): Promise<number> {
  const counts = Array.from({ length: connections }, async (_, connection) => {
    let ops = 0;
    while (performance.now() < untilMs) ops += await work(connection);
    return ops;
  });
  return (await Promise.all(counts)).reduce((sum, ops) => sum + ops, 0);
}
