import type { Views } from '@tidemark/libs-views-contract';
import { prepareApply } from './apply.ts';
import { prepareDocuments } from './documents.ts';
import { prepareEpochs } from './epochs.ts';
import { mapError } from './map-error.ts';
import { prepareMarks } from './marks.ts';
import { type OpenFile, openFile } from './open-file.ts';
import { prepareParked } from './parked.ts';

export interface SqliteViewsOptions {
  /** Created when missing, its folder too. Several processes of one host may share it. */
  readonly file: string;
  /** How long a write waits for another process's write, blocking this one; then it is `unavailable`. Default 2000. */
  readonly busyTimeoutMs?: number;
}

/**
 * Views in one SQLite file. Every call is one statement or one short transaction on the connection, and ends before the next begins.
 *
 * WAL with synchronous=NORMAL: a commit is in the operating system's hands when it resolves, so a killed process loses nothing. A power
 * loss may drop the newest commits, always from the end: a mark cannot outlive rows that were applied before it, and what was dropped is
 * folded again from the log. Syncing every commit would pay for rows that can be derived again.
 */
export async function connectSqliteViews({ file, busyTimeoutMs = 2000 }: SqliteViewsOptions): Promise<Views> {
  try {
    return sqliteViews(file, await openFile(file, busyTimeoutMs));
  } catch (thrown) {
    throw mapError(thrown, file);
  }
}

function sqliteViews(file: string, { dataSource, handle }: OpenFile): Views {
  const apply = prepareApply(handle);
  const marks = prepareMarks(handle);
  const epochs = prepareEpochs(handle);
  const parked = prepareParked(handle);
  const documents = prepareDocuments(handle);
  const look = handle.prepare('SELECT 1 FROM marks LIMIT 1');
  const run = async <T>(work: () => T): Promise<T> => {
    try {
      return work();
    } catch (thrown) {
      throw mapError(thrown, file);
    }
  };
  return {
    mark: (stream) => run(() => marks.read(stream, 'shown')),
    build: (stream) => run(() => marks.read(stream, 'build')),
    apply: (stream, epoch, changes) => run(() => apply(stream, epoch, changes)),
    saveMark: (...save) => run(() => marks.save(...save)),
    startBuild: (stream, revisions) => run(() => epochs.start(stream, revisions)),
    switchTo: (stream, epoch) => run(() => epochs.switchTo(stream, epoch)),
    abandonBuild: (stream, epoch) => run(() => epochs.abandon(stream, epoch)),
    dropEpochs: (stream, limit) => run(() => epochs.drop(stream, limit)),
    park: (stream, epoch, op) => run(() => parked.put(stream, epoch, op)),
    parked: (stream, epoch, after, limit) => run(() => parked.list(stream, epoch, after, limit)),
    unpark: (stream, epoch, seq) => run(() => parked.remove(stream, epoch, seq)),
    marks: (after, limit) => run(() => marks.list(after, limit)),
    document: (stream, kind, id) => run(() => documents.one(stream, kind, id)),
    documents: (...page) => run(() => documents.page(...page)),
    ping: () => run(() => void look.get()),
    close: async () => {
      if (dataSource.isInitialized) await dataSource.destroy();
    },
  };
}
