import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { serverTests } from '@tidemark/tools-services/testing';
import { dynamodbFoldEnv } from './fold-tables.ts';
import { RelayProcess } from './relay-process.ts';
import { push } from './relay-tails.ts';
import { ServiceProcess, buildServices } from './service-process.ts';

const MS_MAX = 300_000;
jest.setTimeout(MS_MAX);

const STREAMS = 8;
const ROUNDS = 24;
const BATCH = 5;

let folder: string;
let relay: RelayProcess | undefined;
const workers: ServiceProcess[] = [];

beforeAll(() => buildServices('relay', 'fold-worker'), 120_000);
beforeEach(() => void (folder = mkdtempSync(path.join(os.tmpdir(), 'tidemark-workers-'))));
afterEach(async () => {
  for (const worker of workers.splice(0)) await worker.destroy();
  await relay?.stop();
  relay = undefined;
  rmSync(folder, { recursive: true });
});

const of = (prefix: string, env: Record<string, string>) =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !/^(RELAY|FOLD)_/.test(name) || name.startsWith(prefix)));

async function startWorker(env: Record<string, string>): Promise<{ worker: ServiceProcess; url: string }> {
  const worker = new ServiceProcess('fold-worker', {
    TIDEMARK_DATA: folder,
    FOLD_ADDR: '127.0.0.1:0',
    ...of('FOLD_', env),
  });
  workers.push(worker);
  return { worker, url: (await worker.listening()).url };
}

/** Two workers fold what is pushed; one is killed in the middle again and again, and another takes its place. */
async function runOn(env: Record<string, string>): Promise<void> {
  relay = await RelayProcess.start({ TIDEMARK_DATA: folder, ...of('RELAY_', env) });
  const steady = await startWorker(env);
  let mortal = await startWorker(env);
  const expected = new Map<string, Record<string, number>>();
  let n = 0;
  for (let round = 0; round < ROUNDS; round++) {
    for (let s = 0; s < STREAMS; s++) {
      const stream = `0.events.${s}`;
      const documents = expected.get(stream) ?? {};
      expected.set(stream, documents);
      const ops = Array.from({ length: BATCH }, () => {
        const id = `id-${++n % 17}`;
        documents[id] = n;
        return {
          ...{ opId: `op-${n}`, domain: 'event', targetKind: 'events', targetId: id, field: 'body', opType: 'set' },
          ...{ value: `{"n":${n}}`, lamport: BigInt(n) },
        };
      });
      await push(relay, stream, ...ops);
    }
    if (round % 8 !== 5) continue;
    mortal.worker.kill('SIGKILL');
    await mortal.worker.exited;
    mortal = await startWorker(env);
  }
  for (const [stream, documents] of expected) {
    const head = ROUNDS * BATCH;
    const answer = await fetch(`${steady.url}/v1/streams/${stream}/documents/events?min_seq=${head}&wait=55`);
    const page = (await answer.json()) as {
      documents: { id: string; fields: { body: { n: number } } }[];
      folded_through: number;
    };
    expect([stream, answer.status, page.folded_through]).toEqual([stream, 200, head]);
    expect(Object.fromEntries(page.documents.map(({ id, fields }) => [id, fields.body.n]))).toEqual(documents);
  }
}

test('FLD-1, FLD-5: two workers on one SQLite file fold every op, also when one is killed', () => runOn({}));

serverTests('postgres')(
  'FLD-1, FLD-5: two workers on one Postgres database fold every op, also when one is killed',
  ({ endpoint }) =>
    runOn({ RELAY_STORE: 'postgres', FOLD_OP_STORE: 'postgres', FOLD_VIEWS: 'postgres', DATABASE_URL: endpoint }),
  MS_MAX,
);

serverTests('dynamodb')(
  'FLD-1, FLD-4, FLD-5: two workers that share the stream of a table fold every op, also when one is killed',
  async ({ endpoint }) => runOn({ ...(await dynamodbFoldEnv(endpoint)), FOLD_LEASE_SECS: '3' }),
  MS_MAX,
);
