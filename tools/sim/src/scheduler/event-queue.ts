import type { SimEvent } from './scheduler.ts';

/** Pending events of which any may be taken, oldest first. */
export class EventBag {
  #events: SimEvent[] = [];

  add(event: SimEvent): void {
    this.#events.push(event);
  }

  live(): readonly SimEvent[] {
    if (this.#events.some(({ cancelled }) => cancelled))
      this.#events = this.#events.filter(({ cancelled }) => !cancelled);
    return this.#events;
  }

  take(index: number): SimEvent {
    return this.#events.splice(index, 1)[0] as SimEvent;
  }
}

/** Pending events by time, those of one time by age: a binary heap. Cancelled ones are dropped when they are met. */
export class EventQueue {
  #heap: SimEvent[] = [];

  add(event: SimEvent): void {
    const heap = this.#heap;
    let at = heap.length;
    heap.push(event);
    for (;;) {
      const parent = (at - 1) >> 1;
      if (at === 0 || before(heap[parent] as SimEvent, event)) break;
      heap[at] = heap[parent] as SimEvent;
      at = parent;
    }
    heap[at] = event;
  }

  takeFirst(): SimEvent | undefined {
    for (;;) {
      const first = this.#pop();
      if (first === undefined || !first.cancelled) return first;
    }
  }

  #pop(): SimEvent | undefined {
    const heap = this.#heap;
    const first = heap[0];
    const last = heap.pop();
    if (first === undefined || last === undefined || heap.length === 0) return first;
    let at = 0;
    for (;;) {
      const left = 2 * at + 1;
      if (left >= heap.length) break;
      const right = left + 1;
      const child = right < heap.length && before(heap[right] as SimEvent, heap[left] as SimEvent) ? right : left;
      if (!before(heap[child] as SimEvent, last)) break;
      heap[at] = heap[child] as SimEvent;
      at = child;
    }
    heap[at] = last;
    return first;
  }
}

const before = (a: SimEvent, b: SimEvent) => a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order);
