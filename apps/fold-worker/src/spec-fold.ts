import 'reflect-metadata';
import { MemoryChangeLog, MemoryFeed } from '@tidemark/libs-feed-contract/testing';
import { FoldOperator, FoldWorker, type Reducer, eventReducer } from '@tidemark/libs-fold';
import { SeededRandom } from '@tidemark/libs-kernel/testing';
import { MemoryOpStore, anOp } from '@tidemark/libs-op-store-contract/testing';
import {
  Metrics,
  ProbesModule,
  createHttp,
  createLog,
  json,
  systemClock,
  systemSleeper,
} from '@tidemark/libs-service-kit';
import { MemoryViews } from '@tidemark/libs-views-contract/testing';
import { AppModule } from './app.module.ts';
import { foldWorker } from './fold-worker.ts';
import { readWait } from './wait.ts';

export const STREAM = '0.events';

/** The fold worker over HTTP on memory models, for specs. It folds when it is told to: `worker.tick()`. */
export async function startFold(
  reducers: readonly Reducer[] = [eventReducer],
  gate?: Parameters<typeof createHttp>[2]['gate'],
) {
  const changes = new MemoryChangeLog();
  const opStore = new MemoryOpStore();
  const views = new MemoryViews();
  const real = { clock: systemClock, sleeper: systemSleeper, random: new SeededRandom(1) };
  const options = { feed: new MemoryFeed(changes, systemSleeper), opStore, views, reducers, ...real };
  const worker = new FoldWorker(options);
  const operator = new FoldOperator({ ...options, worker });
  const stopping = new AbortController().signal;
  const log = createLog('fold-worker', 'silent');
  const metrics = new Metrics('fold-worker');
  const wait = readWait({ worker, opStore, clock: systemClock, stopping });
  const probes = {
    live: () => json('{"status":"ok"}'),
    ready: async () => json('{"status":"ok","checks":{"op_store":"ok","feed":"ok","views":"ok"}}'),
  };
  const exposition = async () => ({
    ...json(await metrics.registry.metrics()),
    contentType: metrics.registry.contentType,
  });
  const module = ProbesModule.around(AppModule.create({ views, wait, operator, log }), probes, exposition);
  const app = await createHttp(module, foldWorker.http, {
    log,
    metrics,
    clock: systemClock,
    stopping,
    ...(gate && { gate }),
  });
  await app.listen(0, '127.0.0.1');
  const url = await app.getUrl();
  return {
    app,
    url,
    worker,
    operator,
    opStore,
    views,
    /** Appends an event for each of the ids, and rings. */
    append: async (...ids: string[]): Promise<void> => {
      const outcomes = await opStore.append(
        STREAM,
        ids.map((id, i) => anEvent(id, i)),
      );
      changes.announce(STREAM, outcomes.at(-1)?.seq ?? 0n);
    },
    close: () => app.close(),
  };
}

function anEvent(id: string, i: number) {
  const target = { domain: 'event', targetKind: 'events', targetId: id, field: 'body', opType: 'set' };
  return anOp({ opId: `${id}-${i}`, ...target, value: `{"n":${i}.0}`, lamport: BigInt(i) });
}
