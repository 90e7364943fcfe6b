import { copyFile, rm, writeFile } from 'node:fs/promises';
import { serverTests, startedHere } from '@tidemark/tools-services/testing';
import type { JetStreamBrokerOptions } from './connect.ts';
import { type Access, PREFIX, makeAccess } from './spec-access.ts';
import { SpecBroker, TENANT, drain, tell } from './spec-broker.ts';

let access: Access;
beforeAll(async () => {
  access = await makeAccess();
}, 60_000);
afterAll(() => rm(access.folder, { recursive: true }));

const natsTest = serverTests('nats', async () => ({ natsConfiguration: access.configuration }));

let spec: SpecBroker | undefined;
afterEach(async () => {
  await spec?.end();
  spec = undefined;
});

/** The address with the name that the certificate is for. */
function open(endpoint: string, options: Partial<JetStreamBrokerOptions>) {
  spec = new SpecBroker(endpoint.replace('127.0.0.1', 'localhost'), { prefix: PREFIX });
  return spec.open({ tls: { caFile: access.files.ca }, ...options });
}

const password = (passwordFile: string, user = 'tidemark') => ({ kind: 'password', user, passwordFile }) as const;

natsTest(
  'SEC-2: with the rights that the documentation lists, and no others, everything works',
  async ({ endpoint }) => {
    const broker = await open(endpoint, { auth: password(access.files.password) });
    const other = await spec!.open({ auth: password(access.files.password), tls: { caFile: access.files.ca } });
    await broker.openQueue(TENANT, 5000n);
    await broker.openQueue(TENANT, 6000n);
    const worker = await broker.consume(TENANT, { name: 'worker', ackWaitMs: 1000 });
    await broker.consume(TENANT, { name: 'worker', ackWaitMs: 2000 });
    await tell(broker, 'poison'.padEnd(1000));
    const [poison] = await worker.fetch(1, 5000);
    await worker.deadLetter(poison!, 'unreadable');
    await worker.nak([poison!], 0);
    while ((await tell(broker, 'x'.padEnd(1000))).kind === 'stored');
    await drain(worker);
    expect(await tell(broker, 'x'.padEnd(1000))).toMatchObject({ kind: 'stored' });
    const [letter] = await broker.deadLetters(TENANT, 0n, 1);
    expect(await broker.removeDeadLetter(TENANT, letter!.id)).toBe(true);
    expect(await broker.stats(TENANT)).toMatchObject({ messages: 1n, deadLetters: 0n });
    const lease = await broker.acquireLease('intake', 'a', 60_000);
    expect(await other.acquireLease('intake', 'b', 60_000)).toBeNull();
    expect(await lease!.renew()).toBe(true);
    const heard = new Promise<string>(
      (resolve) => void other.onNotify('topic', resolve).then(() => broker.notify('topic', 'hint')),
    );
    expect(await heard).toBe('hint');
    expect(await broker.queues()).toEqual([TENANT]);
    await broker.ping();
    expect(spec!.log).toEqual([]);
  },
);

natsTest('SEC-2: a key of a file opens the connection', async ({ endpoint }) => {
  const broker = await open(endpoint, { auth: { kind: 'nkey', seedFile: access.files.nkey } });
  await broker.ping();
});

natsTest('SEC-2: a wrong password is misconfigured, and so is none', async ({ endpoint }) => {
  await expect(open(endpoint, { auth: password(access.files.wrong) })).rejects.toMatchObject({ code: 'misconfigured' });
  await expect(open(endpoint, {})).rejects.toMatchObject({ code: 'misconfigured' });
});

natsTest('SEC-2: a missing right is misconfigured, and not a matter of waiting', async ({ endpoint }) => {
  const auth = password(access.files.password, 'looks');
  await expect(open(endpoint, { auth, prefix: 'elsewhere' })).rejects.toMatchObject({ code: 'misconfigured' });
});

natsTest('SEC-2: a server that another authority vouches for is not spoken to', async ({ endpoint }) => {
  const tls = { caFile: access.files.otherCa };
  await expect(open(endpoint, { auth: password(access.files.password), tls })).rejects.toMatchObject({
    code: 'misconfigured',
  });
});

// kills: connection-options.ts: if (server.includes('@')) => if (false)
test('SEC-2: an address with a secret in it is refused, and not repeated', async () => {
  const broker = new SpecBroker('nats://user:secret@127.0.0.1:1');
  const refused = await broker.open().catch((thrown: Error) => thrown);
  expect(refused).toMatchObject({ code: 'misconfigured' });
  expect((refused as Error).message).not.toContain('secret@');
});

test.each(['http://127.0.0.1:1', '127.0.0.1:1', 'nats://', ''])('OPS-2: address %j is refused', async (servers) => {
  await expect(new SpecBroker(servers).open()).rejects.toMatchObject({ code: 'misconfigured' });
});

test.each([
  { auth: { kind: 'creds', file: '/nowhere' } },
  { auth: { kind: 'nkey', seedFile: '/nowhere' } },
  { auth: { kind: 'password', user: 'a', passwordFile: '/nowhere' } },
  { tls: { caFile: '/nowhere' } },
] as const)('OPS-2: a file that is not there fails the start: %j', async (options) => {
  await expect(new SpecBroker('nats://127.0.0.1:1', options).open()).rejects.toMatchObject({
    ...{ code: 'misconfigured', message: '/nowhere cannot be read' },
  });
});

test.each(['', 'Upper', 'a.b', 'a*', 'x'.repeat(33)])('OPS-2: prefix %j is refused', async (prefix) => {
  await expect(new SpecBroker('nats://127.0.0.1:1', { prefix }).open()).rejects.toMatchObject({
    code: 'misconfigured',
  });
});

test('OPS-6: a server that is not there is unavailable', async () => {
  await expect(new SpecBroker('nats://127.0.0.1:1').open()).rejects.toMatchObject({ code: 'unavailable' });
});

describe('with the tokens of an operator', () => {
  const tokenTest = serverTests('nats', async () => ({ natsConfiguration: access.tokens }));

  tokenTest('SEC-2: a credentials file opens the connection', async ({ endpoint }) => {
    spec = new SpecBroker(endpoint);
    const broker = await spec.open({ auth: { kind: 'creds', file: access.files.creds } });
    await broker.ping();
  });

  tokenTest('SEC-2: a credentials file is read at every connect, also after one that was refused', async (nats) => {
    const file = `${access.folder}/exchanged.creds`;
    spec = new SpecBroker(nats.endpoint);
    await writeFile(file, 'nothing');
    await expect(spec.open({ auth: { kind: 'creds', file } })).rejects.toMatchObject({ code: 'misconfigured' });
    await copyFile(access.files.creds, file);
    const broker = await spec.open({ auth: { kind: 'creds', file } });
    if (!startedHere('restart of the server', nats)) return;
    await writeFile(file, 'nothing');
    await nats.server.crash();
    await nats.server.restart();
    await spec.pass(500);
    await copyFile(access.files.creds, file);
    await broker.ping();
  });
});
