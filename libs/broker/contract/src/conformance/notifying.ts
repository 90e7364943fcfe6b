import { deepEqual, doesNotThrow, rejects } from 'node:assert/strict';
import { NOTIFICATION_BYTES_MAX } from '../accept.ts';
import type { Broker, NotificationWatch } from '../broker.ts';
import { type BrokerCase, type BrokerHarness, within } from './harness.ts';

const TOPIC = 'appended';
/** Told last: whoever heard it has heard everything before it that it was ever to hear. */
const LAST = 'last';

export const notifyCases: readonly BrokerCase[] = [
  {
    title: 'RLY-14: a notification is heard by the listeners of every other process',
    kills: 'notifiesOneProcess',
    async run(harness) {
      const teller = await harness.open();
      const ears = await Promise.all([1, 2].map(async () => Ear.of(harness, await harness.open())));
      teller.notify(TOPIC, 'a');
      teller.notify(TOPIC, LAST);
      for (const ear of ears) deepEqual(await ear.untilLast(), ['a']);
    },
  },
  {
    title: 'RLY-14: who notifies does not hear itself',
    kills: 'hearsItself',
    async run(harness) {
      const [teller, other] = [await harness.open(), await harness.open()];
      const ear = await Ear.of(harness, teller);
      teller.notify(TOPIC, 'own');
      const others = await Ear.of(harness, other);
      teller.notify(TOPIC, LAST);
      await others.untilLast();
      other.notify(TOPIC, LAST);
      deepEqual(await ear.untilLast(), []);
    },
  },
  {
    title: 'RLY-14: notifications of other topics are not heard',
    kills: 'topicsAreOne',
    async run(harness) {
      const { teller, ear } = await tellerAndEar(harness);
      teller.notify('another', 'a');
      teller.notify(TOPIC, LAST);
      deepEqual(await ear.untilLast(), []);
    },
  },
  {
    title: 'RLY-14: any text is heard as it was told, up to its bound',
    kills: 'cutsAtLineBreak',
    async run(harness) {
      const { teller, ear } = await tellerAndEar(harness);
      const texts = ['', ' ', '"]', 'a\nb\r\n', 'nul\0', 'é𝄞\u2028', 'x'.repeat(NOTIFICATION_BYTES_MAX - TOPIC.length)];
      for (const text of texts) teller.notify(TOPIC, text);
      teller.notify(TOPIC, LAST);
      deepEqual(await ear.untilLast(), texts);
    },
  },
  {
    title: 'RLY-14: equal notifications of one turn are told once, and those of a later turn again',
    kills: 'tellsEveryRepeat',
    async run(harness) {
      const { teller, ear } = await tellerAndEar(harness);
      for (let n = 0; n < 100; n++) teller.notify(TOPIC, `s${n % 2}`);
      await harness.pass(100);
      teller.notify(TOPIC, 's1');
      teller.notify(TOPIC, LAST);
      deepEqual(await ear.untilLast(), ['s0', 's1', 's1']);
    },
  },
  {
    title: 'RLY-14: a notification is not kept for who listens later',
    kills: 'keepsNotifications',
    async run(harness) {
      const { teller, ear } = await tellerAndEar(harness);
      teller.notify(TOPIC, 'early');
      teller.notify(TOPIC, LAST);
      await ear.untilLast();
      await ear.watch.close();
      const late = await Ear.of(harness, await harness.open());
      teller.notify(TOPIC, LAST);
      deepEqual(await late.untilLast(), []);
    },
  },
  {
    title: 'RLY-14: a closed watch hears nothing more, and others go on',
    kills: 'closedWatchHears',
    async run(harness) {
      const { teller, ear } = await tellerAndEar(harness);
      const closed = await Ear.of(harness, ear.broker);
      await closed.watch.close();
      await closed.watch.close();
      teller.notify(TOPIC, 'a');
      teller.notify(TOPIC, LAST);
      deepEqual(await ear.untilLast(), ['a']);
      deepEqual(closed.heard, []);
    },
  },
  {
    title: 'RLY-14: a process that ended is no longer told, and the others are',
    kills: 'closedBrokerHears',
    alsoFails: ['closedStillStores'],
    async run(harness) {
      const { teller, ear } = await tellerAndEar(harness);
      const gone = await Ear.of(harness, await harness.open());
      await gone.broker.close();
      await rejects(
        gone.broker.onNotify(TOPIC, () => {}),
        { code: 'unavailable' },
      );
      teller.notify(TOPIC, 'a');
      teller.notify(TOPIC, LAST);
      deepEqual(await ear.untilLast(), ['a']);
      deepEqual(gone.heard, []);
    },
  },
  {
    title: 'RLY-14: a notification that cannot be told is dropped in silence',
    kills: 'throwsForALostHint',
    async run(harness) {
      const { teller, ear } = await tellerAndEar(harness);
      doesNotThrow(() => teller.notify(TOPIC, 'x'.repeat(NOTIFICATION_BYTES_MAX)));
      doesNotThrow(() => teller.notify(TOPIC, 'lone \ud800'));
      teller.notify(TOPIC, LAST);
      deepEqual(await ear.untilLast(), []);
      await teller.close();
      doesNotThrow(() => teller.notify(TOPIC, 'closed'));
    },
  },
];

/** What one process hears of the topic. */
class Ear {
  readonly heard: string[] = [];
  readonly broker: Broker;
  readonly #harness: BrokerHarness;
  #last = 0;
  #watch: NotificationWatch | undefined;
  #onLast: () => void = () => {};

  private constructor(harness: BrokerHarness, broker: Broker) {
    this.#harness = harness;
    this.broker = broker;
  }

  static async of(harness: BrokerHarness, broker: Broker): Promise<Ear> {
    const ear = new Ear(harness, broker);
    ear.#watch = await broker.onNotify(TOPIC, (detail) => ear.#hear(detail));
    return ear;
  }

  get watch(): NotificationWatch {
    return this.#watch!;
  }

  /** What was heard before the last one. */
  async untilLast(): Promise<string[]> {
    const last = new Promise<void>((resolve) => (this.#onLast = resolve));
    if (this.#last > 0) this.#onLast();
    await within(this.#harness, 5000, last);
    return this.heard;
  }

  #hear(detail: string): void {
    if (detail !== LAST) return void this.heard.push(detail);
    this.#last++;
    this.#onLast();
  }
}

async function tellerAndEar(harness: BrokerHarness): Promise<{ teller: Broker; ear: Ear }> {
  const teller = await harness.open();
  return { teller, ear: await Ear.of(harness, await harness.open()) };
}
