import type { Clock } from '@tidemark/libs-kernel';
import type { StreamInfo } from 'nats';
import type { Queues } from './queues.ts';
import type { Trimmer } from './trimmer.ts';

export interface RoomsParts {
  readonly queues: Queues;
  readonly trimmer: Trimmer;
  readonly clock: Clock;
}

/** A queue that was found full stays so for everybody who asks before that, unless something was acked here. */
const FULL_RECHECK_MS = 50;

/**
 * Makes room before it is needed, for queues with copies. There the server of 2.10 notes the id of a message before it finds the queue
 * full: to send what will be refused uses the key up until the leader changes. So each process knows how much room there was when it
 * looked last, spends half of it, and looks again; near the end it looks for every message.
 */
export class Rooms {
  readonly #parts: RoomsParts;
  readonly #tenants = new Map<string, Room>();

  constructor(parts: RoomsParts) {
    this.#parts = parts;
  }

  /** Sends when there is room, at once or when those before it were sent; null when there is none. */
  async admit<T>(tenant: string, bytes: number, send: () => Promise<T>): Promise<T | null> {
    const room = this.#roomOf(tenant);
    if (room.waiting === 0 && room.spend(bytes)) return send();
    room.waiting++;
    const turn = room.last.then(async () => {
      // Who cannot look sends, and is told what is the matter.
      const sent = (await this.#look(tenant, room, bytes).catch(() => true)) ? { promise: send() } : null;
      room.waiting--;
      return sent;
    });
    room.last = turn;
    const sent = await turn;
    return sent && sent.promise;
  }

  /** Whether its messages are sent only when there is room. */
  guards(tenant: string): boolean {
    return this.#roomOf(tenant).isBounded;
  }

  /** Something is otherwise: the budget, or the queue itself. */
  forget(tenant: string): void {
    this.#tenants.delete(tenant);
  }

  #roomOf(tenant: string): Room {
    const known = this.#tenants.get(tenant) ?? new Room();
    this.#tenants.set(tenant, known);
    return known;
  }

  async #look(tenant: string, room: Room, bytes: number): Promise<boolean> {
    const { queues, trimmer, clock } = this.#parts;
    if (room.spend(bytes)) return true;
    const acks = trimmer.acksOf(tenant);
    if (room.fullAtAcks === acks && clock.monotonic() < room.fullUntilMs) return false;
    for (let looked = 0; looked < 2; looked++) {
      if (looked > 0 && !(await trimmer.makeRoom(tenant))) break;
      const queue = await queues.find(tenant);
      // Whoever sends to a queue that is not there is told so.
      if (!queue || room.found(queue.info, bytes)) return true;
    }
    room.fullAtAcks = acks;
    room.fullUntilMs = clock.monotonic() + FULL_RECHECK_MS;
    return false;
  }
}

/** What one process knows of a tenant's room. */
class Room {
  waiting = 0;
  last: Promise<unknown> = Promise.resolve();
  fullAtAcks = -1;
  fullUntilMs = -Infinity;
  /** What may be sent before the next look. */
  #bytes = 0;

  get isBounded(): boolean {
    return this.#bytes !== Infinity;
  }

  spend(bytes: number): boolean {
    if (bytes > this.#bytes) return false;
    this.#bytes -= bytes;
    return true;
  }

  /** Whether there is room for one of that size, which is spent. */
  found({ config, state }: StreamInfo, bytes: number): boolean {
    const left = config.max_bytes - state.bytes;
    // A single server refuses by itself, and notes nothing.
    this.#bytes = config.num_replicas > 1 && config.max_bytes > 0 ? Math.max(0, left / 2 - bytes) : Infinity;
    return !this.isBounded || left >= bytes;
  }
}
