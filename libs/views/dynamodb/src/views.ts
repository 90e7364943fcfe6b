import type { DynamoClient } from '@tidemark/libs-driver-dynamodb';
import { Fault } from '@tidemark/libs-kernel';
import type { Views } from '@tidemark/libs-views-contract';
import { apply } from './apply.ts';
import { readDocument, readPage } from './documents.ts';
import { abandonBuild, dropEpochs, startBuild, switchTo } from './epochs.ts';
import { listMarks, readMark, saveMark } from './marks.ts';
import { listParked, park, unpark } from './parked.ts';
import { ViewsTable } from './views-table.ts';

export interface DynamoViewsOptions {
  readonly client: DynamoClient;
  /** The views table: viewsTable() in tables.ts. */
  readonly table: string;
  /** Requests of one call that run beside each other. Default 16. */
  readonly parallelMax?: number;
}

const PARALLEL_MAX = 16;

/** A stream that nobody folds, and whose absence is an answer. */
const PROBED_STREAM = 'tidemark probe';

/**
 * Views in one DynamoDB table, which any number of workers share. No I/O happens before the first call, and nothing is repeated here: what
 * DynamoDB throttles is `unavailable` and not done, a write that nobody answered `unavailable` and unknown; any call may be repeated.
 *
 * `apply` writes each document of a call by itself: after a fault, or the end of the process, some are stored, each with all its changes
 * (70, or 400 KB, to a request) or none. A document takes at most 400 KB, names and removed members counted, and stays as it was when a write would make
 * it larger: which of several that do not fit together is refused depends on their order.
 */
export function dynamoViews({ client, table: name, parallelMax = PARALLEL_MAX }: DynamoViewsOptions): Views {
  const table = new ViewsTable(client, name);
  const applying = { table, callsMax: parallelMax };
  let isClosed = false;
  const open = async <T>(call: () => Promise<T>): Promise<T> => {
    if (isClosed) throw new Fault('unavailable', 'the views are closed');
    return call();
  };
  return {
    mark: (stream) => open(() => readMark(table, stream, 'shown')),
    build: (stream) => open(() => readMark(table, stream, 'build')),
    apply: (...change) => open(() => apply(applying, ...change)),
    saveMark: (...save) => open(() => saveMark(table, ...save)),
    startBuild: (...start) => open(() => startBuild(table, ...start)),
    switchTo: (...epoch) => open(() => switchTo(table, ...epoch)),
    abandonBuild: (...epoch) => open(() => abandonBuild(table, ...epoch)),
    dropEpochs: (...drop) => open(() => dropEpochs(table, ...drop, parallelMax)),
    park: (...op) => open(() => park(table, ...op)),
    parked: (...page) => open(() => listParked(table, ...page)),
    unpark: (...op) => open(() => unpark(table, ...op)),
    marks: (...page) => open(() => listMarks(table, ...page)),
    document: (...document) => open(() => readDocument(table, ...document)),
    documents: (...page) => open(() => readPage(table, ...page)),
    ping: () => open(async () => void (await readMark(table, PROBED_STREAM, 'shown'))),
    close: async () => {
      isClosed = true;
    },
  };
}
