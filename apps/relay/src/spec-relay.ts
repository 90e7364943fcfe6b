/** A whole relay on memory stores, over real sockets and in real time. */
import 'reflect-metadata';
import { MemoryBroker } from '@tidemark/libs-broker-contract/testing';
import { PUSH_BODY_BYTES_MAX } from '@tidemark/libs-kernel';
import { ManualTime, SeededRandom } from '@tidemark/libs-kernel/testing';
import type { IndexedOpStore } from '@tidemark/libs-op-store-contract';
import { MemoryOpStore, MemoryPrefixRegistry, MemoryPresenceBoard } from '@tidemark/libs-op-store-contract/testing';
import { DeadLetters, Intake, MachinesService, PushService, StreamWriter, toldAppends } from '@tidemark/libs-relay';
import {
  Metrics,
  ProbesModule,
  closeHttp,
  createHttp,
  createLog,
  json,
  systemClock,
  systemSleeper,
} from '@tidemark/libs-service-kit';
import { AppModule } from './app.module.ts';
import { relay } from './relay.ts';
import { specTail } from './spec-tail.ts';

const world = { clock: systemClock, sleeper: systemSleeper };
const quietLog = { info: () => {}, warn: () => {} };

export async function startRelay(opStore: IndexedOpStore = new MemoryOpStore()) {
  const stop = new AbortController();
  const stopping = stop.signal;
  const { hub, tail } = specTail({
    opStore,
    time: { ...systemClock, ...systemSleeper },
    stopping,
    strictCursor: true,
  });
  const told = toldAppends(opStore, hub);
  const bounds = { deadlineMs: 20_000, pushesMax: 100, bytesMax: 100 * PUSH_BODY_BYTES_MAX };
  const unmeasured = { round: () => {}, queued: () => {}, late: () => {} };
  // No deadline comes, and none keeps the process.
  const time = new ManualTime();
  const writer = new StreamWriter({ opStore: told, clock: time, sleeper: time, metrics: unmeasured, ...bounds });
  const broker = new MemoryBroker(world);
  const module = AppModule.create({
    opStore,
    push: new PushService(opStore, writer),
    pull: tail,
    registry: new MemoryPrefixRegistry(),
    machines: new MachinesService(new MemoryPresenceBoard(), systemClock),
    intake: idleIntake(opStore, broker),
    deadLetters: new DeadLetters(broker, told),
    stopping,
    log: quietLog,
  });
  const metrics = new Metrics('relay');
  const probes = {
    live: () => json('{"status":"ok"}'),
    ready: async () => json('{"status":"ok","checks":{"op_store":"ok"}}'),
  };
  const exposition = async () => ({
    status: 200,
    body: await metrics.registry.metrics(),
    contentType: metrics.registry.contentType,
  });
  const parts = { log: createLog('relay', 'silent'), metrics, clock: systemClock, stopping };
  const app = await createHttp(ProbesModule.around(module, probes, exposition), relay.http, parts);
  await app.listen(0, '127.0.0.1');
  const close = async () => {
    stop.abort();
    await closeHttp(app, { keptMs: 0 });
  };
  return { app, broker, url: await app.getUrl(), close };
}

function idleIntake(opStore: IndexedOpStore, broker: MemoryBroker): Intake {
  const metrics = { appended: () => {}, repeated: () => {}, parked: () => {} };
  const parts = { ...world, random: new SeededRandom(1), log: quietLog, owner: 'spec', metrics };
  return new Intake({ ...parts, opStore, broker });
}
