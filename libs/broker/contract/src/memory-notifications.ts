import { isTellable } from './accept.ts';
import type { NotificationWatch } from './broker.ts';

interface Listening {
  readonly owner: object;
  readonly topic: string;
  readonly listener: (detail: string) => void;
}

/** Who listens, over every broker that shares a state. */
export class MemoryNotifications {
  protected readonly listening = new Set<Listening>();
  readonly #pending = new Map<string, () => void>();

  /** Told when this turn is over, so that equal ones are told once. */
  notify(owner: object, topic: string, detail: string): void {
    if (!isTellable(topic, detail)) return;
    if (this.#pending.size === 0) queueMicrotask(() => this.#flush());
    this.#pending.set(this.identity(topic, detail), () => this.tell(owner, topic, detail));
  }

  listen(owner: object, topic: string, listener: (detail: string) => void): NotificationWatch {
    const entry = { owner, topic, listener };
    this.listening.add(entry);
    return { close: async () => this.forget(entry) };
  }

  /** A broker that is closed hears nothing more. */
  leave(owner: object): void {
    for (const entry of this.listening) if (entry.owner === owner) this.listening.delete(entry);
  }

  forget(entry: Listening): void {
    this.listening.delete(entry);
  }

  /** Equal for notifications that are told once. */
  identity(topic: string, detail: string): string {
    return JSON.stringify([topic, detail]);
  }

  tell(owner: object, topic: string, detail: string): void {
    for (const entry of this.listening) if (this.isFor(entry, owner, topic)) entry.listener(detail);
  }

  isFor(entry: Listening, owner: object, topic: string): boolean {
    return entry.topic === topic && entry.owner !== owner;
  }

  #flush(): void {
    const telling = [...this.#pending.values()];
    this.#pending.clear();
    for (const tell of telling) tell();
  }
}
