import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { json } from './answer.ts';
import { createHttp } from './http.ts';
import { createLog } from './log.ts';
import { Metrics } from './metrics.ts';
import { ProbesModule } from './probes.module.ts';
import { systemClock } from './system.ts';

@Module({})
class NothingModule {}

// kills: probes.module.ts: send(reply, this.#probes.live()) => this.#probes.ready()
test('OPS-1: /livez answers while the stores hang, and /metrics is a 404 when it has an address of its own', async () => {
  const probes = { live: () => json('{"status":"ok"}'), ready: () => new Promise<never>(() => {}) };
  const app = await createHttp(
    ProbesModule.around({ module: NothingModule }, probes, null),
    { bodyBytesMax: 10 },
    {
      log: createLog('test', 'silent'),
      metrics: new Metrics('test'),
      clock: systemClock,
      stopping: new AbortController().signal,
    },
  );
  await app.init();
  const live = await app.inject({ url: '/livez' });
  expect([live.statusCode, live.body]).toEqual([200, '{"status":"ok"}']);
  expect((await app.inject({ url: '/metrics' })).statusCode).toBe(404);
  await app.close();
});
