import type { App } from './images.ts';
import type { Replica } from './system.ts';

/** What tells who does the work that one replica does at a time: drains the queue, holds the shards. */
const WORK: Readonly<Record<App, string>> = {
  ingest: 'tidemark_ingest_records_total',
  relay: 'tidemark_intake_appended_total',
  'fold-worker': 'tidemark_fold_ops_total',
};

export interface Busy {
  readonly replica: Replica;
  readonly done: number;
}

/** The replicas of an app by what they have done so far, the busiest first; asked over HTTP. */
export async function byWork(app: App, replicas: readonly Replica[], signal: AbortSignal): Promise<readonly Busy[]> {
  const asked = replicas.map(async (replica) => {
    const answer = await fetch(`${replica.url}/metrics`, { signal });
    return { replica, done: sumOf(WORK[app], await answer.text()) };
  });
  return (await Promise.all(asked)).sort((a, b) => b.done - a.done);
}

/** The sum of a metric over its labels, in Prometheus' text format. */
export function sumOf(metric: string, text: string): number {
  const samples = text.split('\n').filter((line) => line.startsWith(`${metric} `) || line.startsWith(`${metric}{`));
  return samples.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
}
