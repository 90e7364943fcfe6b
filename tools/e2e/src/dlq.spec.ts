import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { randomBytes } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { connectEmbeddedBroker } from '@tidemark/libs-broker-embedded';
import { encodeEvent } from '@tidemark/libs-wire';
import { operatorCommand } from './operator-command.ts';
import { RelayProcess } from './relay-process.ts';
import { buildServices } from './service-process.ts';

const run = operatorCommand('dlq');

let folder: string;
let relay: RelayProcess;

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'tidemark-dlq-'));
  await buildServices('relay');
  relay = await RelayProcess.start({ TIDEMARK_DATA: folder, RELAY_INTAKE: 'on' });
}, 60_000);
afterAll(async () => {
  await relay.stop();
  rmSync(folder, { recursive: true });
});

/** As a producer of another make would: what it queues is no event, or one. */
async function publish(...bodies: Uint8Array[]): Promise<void> {
  const clock = { now: () => Date.now(), monotonic: () => performance.now() };
  const sleeper = { sleep: (ms: number, signal?: AbortSignal) => wait(ms, undefined, { signal }).catch(() => {}) };
  const random = { bytes: (n: number) => randomBytes(n), fraction: () => Math.random() };
  const broker = await connectEmbeddedBroker({ folder: path.join(folder, 'queue'), clock, sleeper, random });
  await broker.openQueue('0', 1n << 30n);
  for (const body of bodies) await broker.publish({ tenant: '0', table: 'events' }, body);
  await broker.close();
  await fetch(`${relay.url}/v1/intake?wait=20`);
}

test('BRK-5: npm run dlq lists, shows, replays and drops the dead letters of a running relay', async () => {
  const to = ['--relay', relay.url];
  const good = { table: 'events', receivedTimestamp: '2026-11-30T00:00:00.000Z', id: 'e', entity: null, data: '{}' };
  await publish(Buffer.from('first'), encodeEvent(good), Buffer.from([0xff]));
  const listed = await run('list', ...to);
  expect(listed.stdout).toMatch(/^1 {2}\d{4}-.*Z {2}events {2}5 bytes {2}.*json.*\n2 {2}.*\n2 dead letters\n$/);
  expect(JSON.parse((await run('show', '1', ...to)).stdout)).toMatchObject({ id: 1, body: 'first' });
  expect(JSON.parse((await run('show', '2', ...to)).stdout)).toMatchObject({ id: 2, body_base64: '/w==' });
  const replayed = await run('replay', 'all', ...to);
  expect([replayed.code, replayed.stdout]).toEqual([1, '0 replayed, 2 not\n']);
  expect(replayed.stderr).toMatch(/^1: 400: .*\n2: 400: .*\n$/);
  expect((await run('drop', '1', '2', ...to)).stdout).toBe('1: dropped\n2: dropped\n2 dropped\n');
  expect((await run('list', ...to)).stdout).toBe('no dead letters\n');
  expect(await run('drop', '1', ...to)).toMatchObject({ code: 1, stderr: '1: 404: no dead letter 1 of tenant 0\n' });
}, 60_000);

test('npm run dlq says in one line what is wrong with its arguments, the relay or the token', async () => {
  const token = path.join(folder, 'token');
  writeFileSync(token, 'tdm_x\n');
  const refused: [RegExp, string[]][] = [
    [/^no command lst; /, ['lst']],
    [/^x: expected an ID/, ['show', 'x']],
    [/^show: give one ID\n$/, ['show']],
    [/^replay: give at least one ID\n$/, ['replay']],
    [/^cannot reach http:\/\/127\.0\.0\.1:1\//, ['list', '--relay', 'http://127.0.0.1:1']],
    [/^--token-file: /, ['list', '--token-file', path.join(folder, 'absent')]],
    [/^404: /, ['list', '--relay', relay.url, '--tenant', 'nobody', '--token-file', token]],
  ];
  for (const [why, args] of refused) {
    const { code, stdout, stderr } = await run(...args);
    expect([args, code, stdout, stderr.split('\n').length]).toEqual([args, 1, '', 2]);
    expect(stderr).toMatch(why);
  }
}, 60_000);
