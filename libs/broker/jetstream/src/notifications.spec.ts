import { serverTests, startedHere } from '@tidemark/tools-services/testing';
import { SpecBroker } from './spec-broker.ts';

const natsTest = serverTests('nats');

let spec: SpecBroker;
afterEach(() => spec.end());

// kills: notifications.ts: await this.#link.flush().catch(() => {}); => void 0;
natsTest(
  'OPS-4: hints that a server does not take are lost beyond a bound, and those after it are heard',
  async (nats) => {
    spec = new SpecBroker(nats.endpoint);
    const [teller, ear] = [await spec.open(), await spec.open()];
    if (!startedHere('SIGSTOP of the server', nats)) return;
    const heard: string[] = [];
    const last = Promise.withResolvers<void>();
    await ear.onNotify('topic', (detail) => (detail === 'last' ? last.resolve() : void heard.push(detail)));
    nats.server.pause();
    for (let turn = 0; turn < 40; turn++) {
      for (let n = 0; n < 10; n++) teller.notify('topic', `${turn} ${n}`.padEnd(10_000));
      await spec.pass(1);
    }
    nats.server.resume();
    while (heard.length < 100) await spec.pass(10);
    await spec.pass(200);
    teller.notify('topic', 'last');
    await last.promise;
    // A megabyte, and no more.
    expect(heard.length).toBeLessThanOrEqual(105);
    expect(heard.slice(0, 100)).toEqual(heard.slice(0, 100).sort((a, b) => order(a) - order(b)));
  },
);

function order(detail: string): number {
  const [turn, n] = detail.split(' ');
  return Number(turn) * 10 + Number(n);
}
