import type { QueueFinding } from '@tidemark/libs-broker-contract';
import { MemoryBroker, passManualTime } from '@tidemark/libs-broker-contract/testing';
import { Fault } from '@tidemark/libs-kernel';
import { ManualTime } from '@tidemark/libs-kernel/testing';
import { Metrics } from '@tidemark/libs-service-kit';
import { QueueWatch } from './queue-watch.ts';

const DETAIL = 'S: duplicate_window is 5, must be 120';
const odd = (mended: boolean): QueueFinding => ({ tenant: 'acme', detail: DETAIL, mended });

/** A watch of one tenant's queue, on a model whose findings a test sets. */
class Rig {
  readonly time = new ManualTime();
  readonly broker = new MemoryBroker({ clock: this.time, sleeper: this.time });
  readonly lines: string[] = [];
  readonly metrics = new Metrics('ingest');
  tenants = ['acme'];
  findings: QueueFinding[] | Fault = [];
  readonly watch: QueueWatch;

  constructor() {
    const note = (level: string) => (fields: unknown, message?: string) =>
      void this.lines.push(`${level}: ${message ?? String(fields)}`);
    const log = { info: note('info'), warn: note('warn'), error: note('error') };
    const broker = {
      stats: (tenant: string) => this.broker.stats(tenant),
      verifyQueues: async () => {
        if (this.findings instanceof Fault) throw this.findings;
        return this.findings;
      },
    };
    const { metrics } = this;
    this.watch = new QueueWatch({ broker, metrics, log: log as never, tenants: () => this.tenants });
  }

  async gauges(): Promise<Record<string, number>> {
    const text = await this.metrics.registry.metrics();
    const lines = text.split('\n').filter((line) => line.startsWith('tidemark_queue_'));
    return Object.fromEntries(
      lines.map((line) => [
        `${line.slice('tidemark_queue_'.length, line.indexOf('{'))}`,
        Number(line.split(' ').at(-1)),
      ]),
    );
  }
}

let rig: Rig;
beforeEach(async () => {
  rig = new Rig();
  await rig.broker.openQueue('acme', 1000n);
});

test('OPS-4: how full each queue is, and how long its oldest event waits, can be read from the metrics', async () => {
  await rig.broker.publish({ tenant: 'acme', table: 't' }, Buffer.from('12345'));
  rig.time.advance(2500);
  await rig.watch.look();
  const { bytes } = await rig.broker.stats('acme');
  expect(await rig.gauges()).toEqual({
    ...{ messages: 1, bytes: Number(bytes), bytes_max: 1000, dead_letters: 0, oldest_seconds: 2.5, findings: 0 },
  });
});

// kills: queue-watch.ts: this.#gauges.forgetAll() => this.#failed = true
test('OPS-4: what is not known of a queue is not told, and is told again when it is', async () => {
  await rig.watch.look();
  rig.findings = new Fault('unavailable', 'gone');
  await rig.watch.look();
  await rig.watch.look();
  expect(await rig.gauges()).toEqual({ findings: 0 });
  expect(rig.lines).toEqual(['warn: the queues cannot be looked at']);
  rig.findings = [];
  await rig.watch.look();
  expect(await rig.gauges()).toMatchObject({ messages: 0 });
  rig.tenants = ['other'];
  await rig.watch.look();
  expect(await rig.gauges()).toEqual({ findings: 0 });
});

// kills: queue-watch.ts: if (left.length > 0) throw => if (left.length < 0) throw
test('ING-6: a queue that is otherwise than it must be makes the service not ready until it is put right', async () => {
  await rig.watch.look();
  await expect(rig.watch.check()).resolves.toBeUndefined();
  rig.findings = [odd(false)];
  await rig.watch.look();
  await rig.watch.look();
  await expect(rig.watch.check()).rejects.toMatchObject({ code: 'misconfigured', message: DETAIL });
  expect(await rig.gauges()).toMatchObject({ findings: 1 });
  rig.findings = new Fault('unavailable', 'gone');
  await rig.watch.look();
  await expect(rig.watch.check()).rejects.toMatchObject({ message: DETAIL });
  rig.findings = [];
  await rig.watch.look();
  await expect(rig.watch.check()).resolves.toBeUndefined();
  expect(rig.lines).toEqual([
    'error: a queue is not what it must be: ingest is not ready until it is',
    'warn: the queues cannot be looked at',
    'info: the queues are what they must be again',
  ]);
});

test('ING-6: what was put right is told, and does not make the service not ready', async () => {
  rig.findings = [odd(true)];
  await rig.watch.look();
  await expect(rig.watch.check()).resolves.toBeUndefined();
  expect(rig.lines).toEqual(['warn: a queue was changed by somebody else, and is put right']);
});

test('ING-6: the queues are looked at from the start, and again and again', async () => {
  const stopping = new AbortController();
  const running = rig.watch.run(rig.time, stopping.signal);
  await passManualTime(rig.time, 1);
  expect(await rig.gauges()).toMatchObject({ messages: 0 });
  await rig.broker.publish({ tenant: 'acme', table: 't' }, Buffer.from('1'));
  await passManualTime(rig.time, 15_000);
  expect(await rig.gauges()).toMatchObject({ messages: 1 });
  stopping.abort();
  await running;
});
