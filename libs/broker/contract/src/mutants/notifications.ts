import type { NotificationWatch } from '../broker.ts';
import type { MemoryParts } from '../memory-harness.ts';
import { MemoryNotifications } from '../memory-notifications.ts';

type Telling = Parameters<MemoryNotifications['tell']>;

/** Notifications, broken. */
export const notificationMutants: Readonly<Record<string, MemoryParts>> = {
  notifiesOneProcess: withNotifications(
    class extends MemoryNotifications {
      override tell(...[owner, topic, detail]: Telling): void {
        for (const entry of this.listening) if (this.isFor(entry, owner, topic)) return entry.listener(detail);
      }
    },
  ),
  hearsItself: withNotifications(
    class extends MemoryNotifications {
      override isFor(...[entry, , topic]: Parameters<MemoryNotifications['isFor']>): boolean {
        return entry.topic === topic;
      }
    },
  ),
  topicsAreOne: withNotifications(
    class extends MemoryNotifications {
      override isFor(...[entry, owner]: Parameters<MemoryNotifications['isFor']>): boolean {
        return entry.owner !== owner;
      }
    },
  ),
  cutsAtLineBreak: withNotifications(
    class extends MemoryNotifications {
      override tell(...[owner, topic, detail]: Telling): void {
        super.tell(owner, topic, detail.split('\n')[0]!);
      }
    },
  ),
  tellsEveryRepeat: withNotifications(
    class extends MemoryNotifications {
      #told = 0;
      override identity(): string {
        return `${this.#told++}`;
      }
    },
  ),
  keepsNotifications: withNotifications(
    class extends MemoryNotifications {
      readonly #kept: Telling[] = [];
      override tell(...telling: Telling): void {
        this.#kept.push(telling);
        super.tell(...telling);
      }
      override listen(owner: object, topic: string, listener: (detail: string) => void): NotificationWatch {
        for (const [teller, of, detail] of this.#kept) if (of === topic && teller !== owner) listener(detail);
        return super.listen(owner, topic, listener);
      }
    },
  ),
  closedWatchHears: withNotifications(
    class extends MemoryNotifications {
      override forget(): void {}
    },
  ),
  closedBrokerHears: withNotifications(
    class extends MemoryNotifications {
      override leave(): void {}
    },
  ),
  throwsForALostHint: withNotifications(
    class extends MemoryNotifications {
      override notify(owner: object, topic: string, detail: string): void {
        if (!detail.isWellFormed()) throw new Error('no UTF-8 form');
        super.notify(owner, topic, detail);
      }
    },
  ),
};

function withNotifications(Notifications: typeof MemoryNotifications): MemoryParts {
  return { Notifications };
}
