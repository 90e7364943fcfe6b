import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { operatorCommand } from './operator-command.ts';
import { RelayProcess } from './relay-process.ts';
import { push } from './relay-tails.ts';
import { ServiceProcess, buildServices } from './service-process.ts';

const run = operatorCommand('fold');
const STREAM = 'shop';
/** Ops of the domain `shop`: a price is a whole number of at least `min`. */
const declared = (revision: number, min: number) => ({
  version: 1,
  domains: {
    shop: {
      revision,
      documents: { things: { price: 'last' } },
      ops: [
        {
          when: { op_type: 'set', field: 'price' },
          read: { value: { integer: { min } } },
          writes: [{ kind: 'things', id: '{target_id}', set: { price: '{value}' } }],
        },
      ],
    },
  },
});

let folder: string;
let relay: RelayProcess;
let fold: ServiceProcess;
let url: string;

async function startFold(revision: number, min: number): Promise<void> {
  const file = path.join(folder, 'reducers.json');
  writeFileSync(file, JSON.stringify(declared(revision, min)));
  fold = new ServiceProcess('fold-worker', {
    TIDEMARK_DATA: folder,
    FOLD_ADDR: '127.0.0.1:0',
    FOLD_REDUCERS: file,
  });
  url = (await fold.listening()).url;
}

const folded = async (seq: number) =>
  (await fetch(`${url}/v1/streams/${STREAM}/watermark?min_seq=${seq}&wait=50`)).json() as Promise<{ epoch: number }>;

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'tidemark-fold-'));
  await buildServices('relay', 'fold-worker');
  relay = await RelayProcess.start({ TIDEMARK_DATA: folder });
  await startFold(1, 10);
}, 90_000);
afterAll(async () => {
  await fold.destroy();
  await relay.stop();
  rmSync(folder, { recursive: true });
});

const price = (thing: string, value: string) =>
  push(relay, STREAM, {
    ...{ opId: `${thing}-${value}`, domain: 'shop', targetKind: 'thing', targetId: thing },
    ...{ field: 'price', opType: 'set', value },
  });

const things = async () => {
  const answer = await fetch(`${url}/v1/streams/${STREAM}/documents/things`);
  const { documents } = (await answer.json()) as { documents: { id: string; fields: object }[] };
  return Object.fromEntries(documents.map(({ id, fields }) => [id, fields]));
};

test('FLD-6, FLD-7: npm run fold shows what is parked, retries and drops it, and rebuilds', async () => {
  await price('a', '12');
  await price('b', '5');
  await price('c', 'x');
  await folded(3);
  const to = ['--fold', url];
  const parked = await run('parked', STREAM, ...to);
  expect(parked.stdout).toMatch(
    /^2 {2}\S+Z {2}b-5 {2}tried 1 {2}.+\n3 {2}\S+Z {2}c-x {2}tried 1 {2}.+\n2 parked ops\n$/,
  );
  expect(await run('retry', STREAM, 'all', ...to)).toMatchObject({ code: 1, stdout: '0 folded, 2 not\n' });
  expect((await run('drop', STREAM, '3', ...to)).stdout).toBe('3: dropped\n1 dropped\n');
  expect(await run('drop', STREAM, '3', ...to)).toMatchObject({ code: 1, stderr: expect.stringMatching(/^3: 404: /) });
  expect((await run('streams', ...to)).stdout).toBe(`${STREAM}  3 of 3, 0 behind  epoch 1\n`);
  expect((await run('holes', ...to)).stdout).toBe('no holes\n');
  expect((await run('status', ...to)).stdout).toMatch(/^0 streams pending, 0 ops behind, .*\nrevisions: .*shop 1.*\n$/);
  expect(JSON.parse((await run('mark', STREAM, ...to)).stdout)).toMatchObject({ folded_through: 3, build: null });

  expect((await run('rebuild', STREAM, ...to)).stdout).toBe(`${STREAM}: epoch 2 is built\n1 begun\n`);
  while ((await folded(3)).epoch !== 2);
  expect(await things()).toEqual({ a: { price: 12 } });
  expect((await run('parked', STREAM, ...to)).stdout).toContain('2 parked ops');
  expect((await run('rebuild', '--all', ...to)).stdout).toBe('1 rebuilds begun\n');
  while ((await folded(3)).epoch !== 3);
}, 120_000);

test('FLD-7: a worker with a higher revision folds anew, and shows the new view when it is complete', async () => {
  await fold.stop();
  await startFold(2, 1);
  while ((await folded(3)).epoch !== 4);
  expect(await things()).toEqual({ a: { price: 12 }, b: { price: 5 } });
  expect((await run('parked', STREAM, '--fold', url)).stdout).toMatch(/^3 {2}.*\n1 parked ops\n$/);
}, 120_000);

test('npm run fold says in one line what is wrong with its arguments, or the worker', async () => {
  const refused: [RegExp, string[]][] = [
    [/^no command stat; /, ['stat']],
    [/^parked: give a stream\n$/, ['parked']],
    [/^retry: give a stream, and seqs or all\n$/, ['retry', 's']],
    [/^x: expected a seq/, ['drop', 's', 'x']],
    [/^rebuild: give streams, or --all\n$/, ['rebuild']],
    [/^cannot reach http:\/\/127\.0\.0\.1:1\//, ['status', '--fold', 'http://127.0.0.1:1']],
    [/^--token-file: /, ['status', '--token-file', path.join(folder, 'absent')]],
  ];
  for (const [why, args] of refused) {
    const { code, stdout, stderr } = await run(...args);
    expect([args, code, stdout, stderr.split('\n').length]).toEqual([args, 1, '', 2]);
    expect(stderr).toMatch(why);
  }
}, 60_000);
