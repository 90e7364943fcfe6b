import { type FoldMetrics, FoldWorker, eventReducer } from '@tidemark/libs-fold';
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

function foldMetrics({ metrics }: ServiceParts): FoldMetrics {
  const ops = metrics.counter('tidemark_fold_ops_total', 'Ops that the mark passed, by what became of them.', [
    'outcome',
  ]);
  const replayed = metrics.counter('tidemark_fold_replayed_ops_total', 'Ops that a rebuild folded again.');
  const seqs = metrics.counter('tidemark_fold_seqs_total', 'Seqs that were missing, by what became of them.', ['end']);
  const epochs = metrics.counter('tidemark_fold_epochs_total', 'Epochs built, switched to, given up.', ['event']);
  const conflicts = metrics.counter('tidemark_fold_mark_conflicts_total', 'Marks that another worker saved first.');
  const bounds = metrics.counter('tidemark_fold_bounds_total', 'Looks ahead that the bound on ranges cut short.');
  return {
    ops: (outcome, count) => ops.inc({ outcome }, count),
    replayed: (count) => replayed.inc(count),
    seqs: (end, count) => seqs.inc({ end }, count),
    epoch: (event) => epochs.inc({ event }),
    conflict: () => conflicts.inc(),
    bound: () => bounds.inc(),
  };
}
