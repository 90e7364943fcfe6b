import { FoldWorker, eventReducer } from '@tidemark/libs-fold';
import type { OpenService, ServiceParts } from '@tidemark/libs-service-kit';
import { AppModule } from './app.module.ts';
import { type FoldSettings, opLogFile, viewsFile } from './config.ts';

/** The only place that knows which adapters the fold worker runs on. */
export async function openFoldWorker(settings: FoldSettings, parts: ServiceParts): Promise<OpenService> {
  const { clock, sleeper, random, log, stopping, tracer } = parts;
  const { connectSqlite } = await import('@tidemark/libs-op-store-sql');
  const { connectOpStoreFeed } = await import('@tidemark/libs-feed-op-store');
  const { connectSqliteViews } = await import('@tidemark/libs-views-sql');
  const store = await connectSqlite({ file: opLogFile(settings), clock, sleeper });
  const feed = await connectOpStoreFeed({ opStore: store.opStore, clock, sleeper });
  const views = await connectSqliteViews({ file: viewsFile(settings) });
  const worker = new FoldWorker({
    feed,
    opStore: store.opStore,
    views,
    reducers: [eventReducer],
    clock,
    sleeper,
    random,
    log,
    metrics: foldMetrics(parts),
    tracer,
  });
  return {
    module: AppModule.create({ worker, views, stopping }),
    checks: { feed: () => feed.ping(), views: () => views.ping() },
    background: [(signal) => worker.run(signal)],
    close: async () => {
      await feed.close();
      await views.close();
      await store.close();
    },
  };
}

function foldMetrics({ metrics }: ServiceParts) {
  const ops = metrics.counter('tidemark_fold_ops_total', 'Ops that the mark passed, by what became of them.', [
    'outcome',
  ]);
  const conflicts = metrics.counter('tidemark_fold_mark_conflicts_total', 'Marks that another worker saved first.');
  return {
    ops: (outcome: 'folded' | 'not_folded' | 'refused', count: number) => ops.inc({ outcome }, count),
    conflict: () => conflicts.inc(),
  };
}
