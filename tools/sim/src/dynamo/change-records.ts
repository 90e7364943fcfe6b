import type { Database, Flight, Write } from './database.ts';
import type { Item } from './item.ts';
import type { SimDynamo } from './sim-dynamo.ts';

/** What a write did to one item. */
export interface Change {
  readonly stream: string;
  readonly seq: bigint;
  readonly before: Item | null;
  readonly after: Item | null;
  readonly committedMs: number;
}

/** A change on its way: the changes of one item leave in the order in which they were committed. */
interface Waiting {
  readonly change: Change;
  isReady: boolean;
}

/**
 * Turns writes into change records, with what is documented of them and no more: they set out when their transaction is complete, each by
 * itself; those of one item keep their order, nothing else does. A write that changes nothing leaves no record.
 */
export function onChange(dynamo: SimDynamo, delayMs: () => number, emit: (change: Change) => void): void {
  const { database, scheduler } = dynamo;
  const queues = new Map<string, Waiting[]>();
  const flying = new Map<Flight, readonly Waiting[]>();
  database.onCommit((flight) => {
    const waiting = flight.writes.flatMap((write) => changeOf(database, flight, write, scheduler.nowMs));
    for (const one of waiting) queueOf(queues, one.change).push(one);
    flying.set(flight, waiting);
  });
  database.onComplete((flight) => {
    for (const one of flying.get(flight) ?? []) {
      const { stream, seq } = one.change;
      scheduler.happen(delayMs(), `the change of ${stream}/${seq} is streamed`, () => {
        one.isReady = true;
        const queue = queueOf(queues, one.change);
        while (queue[0]?.isReady === true) emit((queue.shift() as Waiting).change);
      });
    }
    flying.delete(flight);
  });
}

function changeOf(database: Database, { serial }: Flight, write: Write, committedMs: number): Waiting[] {
  const { stream, seq, item: after } = write;
  const before = database.asOf(write, serial - 1);
  if (isSame(before, after)) return [];
  return [{ change: { stream, seq, before, after, committedMs }, isReady: false }];
}

function isSame(a: Item | null, b: Item | null): boolean {
  if (a === b) return true;
  if (a === null || b === null) return false;
  const text = (item: Item) => JSON.stringify(Object.entries(item).sort());
  return text(a) === text(b);
}

function queueOf(queues: Map<string, Waiting[]>, { stream, seq }: Change): Waiting[] {
  const name = `${stream}/${seq}`;
  const queue = queues.get(name) ?? [];
  queues.set(name, queue);
  return queue;
}
