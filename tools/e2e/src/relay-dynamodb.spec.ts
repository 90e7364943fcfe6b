import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { anOp } from '@tidemark/libs-op-store-contract/testing';
import {
  type FaultProxy,
  type Rule,
  callsOf,
  cancel,
  deny,
  every,
  fail,
  first,
  hold,
  loseAnswer,
  serverTests,
  startFaultProxy,
} from '@tidemark/tools-services/testing';
import { encodePush } from '@tidemark/libs-wire';
import { burnSeq, dynamodbEnv } from './relay-dynamodb.ts';
import { RelayProcess } from './relay-process.ts';
import { wakeups } from './relay-tails.ts';
import { ServiceProcess, buildServices } from './service-process.ts';

const root = path.resolve(import.meta.dirname, '../../..');
const dynamodbTest = serverTests('dynamodb');
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'tidemark-dynamodb-'));
  await buildServices('relay');
}, 60_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

// One relay for all tests, behind a proxy; each has a stream of its own, and leaves no rule behind.
let proxy: FaultProxy | undefined;
let relay: RelayProcess | undefined;
let other: RelayProcess | undefined;
let env: Record<string, string> = {};
afterEach(() => proxy?.clear());
afterAll(async () => {
  await relay?.stop();
  await other?.stop();
  await proxy?.close();
});

interface Scene {
  readonly relay: RelayProcess;
  readonly proxy: FaultProxy;
}

function relayTest(title: string, run: (scene: Scene) => Promise<void>): void {
  dynamodbTest(
    title,
    async ({ endpoint }) => {
      proxy ??= await startFaultProxy(endpoint);
      if (relay === undefined) {
        env = await dynamodbEnv(endpoint, proxy.endpoint);
        const settings = { RELAY_PUSH_DEADLINE_SECS: '3', RELAY_CONTENTION_ROUNDS: '5', RELAY_TAIL_POLL_MS: '20' };
        relay = await RelayProcess.start({ TIDEMARK_DATA: folder, ...env, ...settings });
      }
      await run({ relay, proxy });
    },
    60_000,
  );
}

/** A second relay on the same tables, for all tests. */
const another = async () => (other ??= await RelayProcess.start({ TIDEMARK_DATA: folder, ...env }));

const transactions = callsOf('TransactWriteItems');
const post = ({ url }: RelayProcess, where: string, body: string | Uint8Array) =>
  fetch(`${url}/streams/${where}`, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
const push = (to: RelayProcess, stream: string, ...opIds: string[]) =>
  post(to, `${stream}/ops`, encodePush(opIds.map((opId) => anOp({ opId }))));
const register = (to: RelayProcess, stream: string, prefix: string, uuid = 'uuid-A') =>
  post(to, `${stream}/register`, JSON.stringify({ prefix, replica_uuid: uuid }));
const announce = (to: RelayProcess, stream: string, id: string) =>
  post(to, `${stream}/machines`, JSON.stringify({ machine_id: id, name: 'a machine', interval_secs: 300 }));
const pull = async ({ url }: RelayProcess, stream: string) => {
  const answer = await fetch(`${url}/streams/${stream}/ops?since=0`);
  const { ops } = (await answer.json()) as { ops: { op_id: string }[] };
  return ops.map(({ op_id }) => op_id);
};
const told = (answer: Response) => [
  answer.status,
  answer.headers.get('tidemark-outcome'),
  answer.headers.get('tidemark-seq'),
];

/** Only the calls that name this stream. */
const ofStream =
  (stream: string, rule: Rule): Rule =>
  (call, forward) =>
    JSON.stringify(call.body).includes(`{"S":"${stream}"}`) ? rule(call, forward) : forward(call);

relayTest('RLY-1: a relay on DynamoDB takes and gives ops, prefixes and presence', async ({ relay }) => {
  expect(told(await push(relay, 'whole', 'a', 'b'))).toEqual([200, null, '2']);
  expect(await pull(relay, 'whole')).toEqual(['a', 'b']);
  expect(await (await register(relay, 'whole', 'aaaa')).json()).toEqual({ outcome: 'registered' });
  expect((await announce(relay, 'whole', 'm')).status).toBe(204);
  expect((await announce(relay, 'whole', 'not an id')).status).toBe(400);
  const { machines } = (await (await fetch(`${relay.url}/streams/whole/machines`)).json()) as { machines: object[] };
  expect(machines).toMatchObject([{ machine_id: 'm' }]);
  const metrics = await (await fetch(`${relay.url}/metrics`)).text();
  expect(metrics).toMatch(/^tidemark_dynamodb_rounds_total\{end="stored",service="relay"\} [1-9]/m);
  expect((await fetch(`${relay.url}/readyz`)).status).toBe(200);
});

relayTest(
  'RLY-1, RLY-2, RLY-5: ops are served as they came, at the cursors and in the streams of the protocol',
  async (scene) => {
    const { url } = scene.relay;
    const get = async (where: string) => (await fetch(`${url}/streams/${where}`)).text();
    const op =
      '{"envelope_version":999,"op_id":"01JB2Q6T5V0Y8ZC3N4M9K7H2XA","lamport":-9223372036854775808,"site":9223372036854775807,' +
      '"domain":"fact","target_kind":"no-such","target_id":"q7w2.k3f9","field":"title","op_type":"warp","value":"a\\u0000b",' +
      '"author":"mira","wall_clock":"","key_id":"ed25519:AbC","sig":7,"x":1.0}';
    for (const seq of ['1', '1'])
      expect(told(await post(scene.relay, 'nxs%2Fserved/ops', `{"ops":[${op}]}`))).toEqual([200, null, seq]);
    expect(await get('nxs%2Fserved/ops')).toBe(`{"ops":[${op}],"next":1}`);
    expect(await get('nxs%2Fserved/ops?since=1')).toBe('{"ops":[],"next":1}');
    expect(await get('nxs%2Fserved/ops?since=-5&limit=0')).toBe('{"ops":[],"next":-5}');
    expect(await get('served/ops?since=-5')).toBe('{"ops":[],"next":-5}');
    const long = 's'.repeat(2049);
    expect(told(await push(scene.relay, long, 'a'))).toEqual([400, 'not-done', null]);
    expect(await get(`${long}/ops`)).toBe('{"ops":[],"next":0}');
  },
);

relayTest('RLY-15: prefixes and machines are those of every store, and move no cursor', async ({ relay }) => {
  const asked = async (prefix: string, uuid: string) => (await register(relay, 'named', prefix, uuid)).json();
  expect(await asked('aaaa', 'uuid-A')).toEqual({ outcome: 'registered' });
  expect(await asked('aaaa', 'uuid-B')).toEqual({ outcome: 'reassigned', new_prefix: 'd7rm' });
  expect(await asked('aaaa', 'uuid-C')).toEqual({ outcome: 'reassigned', new_prefix: 'amxn' });
  expect(await asked('bbbb', 'uuid-A')).toEqual({ outcome: 'reassigned', new_prefix: 'aaaa' });
  for (const id of ['uuid-A', 'm1', 'uuid-A']) expect((await announce(relay, 'named', id)).status).toBe(204);
  const { machines, truncated } = (await (await fetch(`${relay.url}/streams/named/machines`)).json()) as {
    machines: { machine_id: string }[];
    truncated: boolean;
  };
  expect([machines.map(({ machine_id }) => machine_id).sort(), truncated]).toEqual([['m1', 'uuid-A'], false]);
  expect(await pull(relay, 'named')).toEqual([]);
  expect(told(await push(relay, 'named', 'a'))).toEqual([200, null, '1']);
});

relayTest(
  'RLY-19: an operator lists, describes and erases streams, where the rights for it are given, and nothing else needs them',
  async ({ relay, proxy }) => {
    const v1 = (method: string, where: string) => fetch(`${relay.url}/v1/streams${where}`, { method });
    const listed = '?after=operated&limit=2';
    await push(relay, 'operated-1', 'a', 'b');
    await push(relay, 'operated-2', 'a');
    expect(await (await v1('GET', listed)).text()).toBe(
      '{"streams":[{"stream":"operated-1","head":2},{"stream":"operated-2","head":1}],"next":"operated-2"}',
    );
    proxy.add(deny('Scan'));
    proxy.add(deny('DeleteItem'));
    expect(told(await v1('GET', listed))).toEqual([500, 'not-done', null]);
    expect(told(await v1('DELETE', '/operated-1'))).toEqual([500, 'not-done', null]);
    expect(told(await push(relay, 'operated-1', 'c'))).toEqual([200, null, '3']);
    proxy.clear();
    expect(await (await v1('DELETE', '/operated-1')).text()).toBe('{"stream":"operated-1","erased":3,"head":3}');
    expect(await pull(relay, 'operated-1')).toEqual([]);
    expect(await (await v1('GET', '/operated-1')).text()).toBe('{"stream":"operated-1","head":3,"burned":3}');
    expect(told(await push(relay, 'operated-1', 'a'))).toEqual([200, null, '4']);
    expect(await pull(relay, 'operated-1')).toEqual(['a']);
  },
);

relayTest('RLY-14: an append of another relay wakes a reader that waits, found by a poll', async ({ relay }) => {
  const waiting = fetch(`${relay.url}/streams/waited/ops?since=0&wait=55`);
  // Past the relay, so that nothing tells it of the append; it starts while the reader waits already.
  const other = await another();
  expect((await push(other, 'waited', 'a')).status).toBe(200);
  expect(await (await waiting).text()).toContain('"a"');
  expect(await wakeups(relay, 'poll')).toBeGreaterThan(0);
});

relayTest(
  'R46, RLY-3: a relay that is stopped with its transaction on the way stores above the one that overtook it',
  async ({ relay, proxy }) => {
    const other = await another();
    await push(relay, 'stopped', 'a');
    const held = hold(first(1, transactions));
    proxy.add(ofStream('stopped', held.rule));
    const late = push(relay, 'stopped', 'b');
    await held.arrived;
    relay.kill('SIGSTOP');
    try {
      expect(told(await push(other, 'stopped', 'c'))).toEqual([200, null, '2']);
      expect(await pull(other, 'stopped')).toEqual(['a', 'c']);
      held.release();
    } finally {
      relay.kill('SIGCONT');
    }
    // Stored by now, or past its deadline.
    expect([200, 503]).toContain((await late).status);
    expect(told(await push(other, 'stopped', 'b'))).toEqual([200, null, '3']);
    expect(await pull(relay, 'stopped')).toEqual(['a', 'c', 'b']);
  },
);

relayTest(
  'OPS-6: a right that is taken away is a 500 that did nothing, and the rest goes on',
  async ({ relay, proxy }) => {
    await push(relay, 'rights', 'a');
    for (const action of ['PutItem', 'UpdateItem', 'ConditionCheckItem']) {
      const allow = proxy.add(deny(action));
      expect(told(await push(relay, 'rights', 'b'))).toEqual([500, 'not-done', null]);
      expect(await pull(relay, 'rights')).toEqual(['a']);
      allow();
    }
    const allow = proxy.add(deny('Query'));
    expect((await fetch(`${relay.url}/streams/rights/ops?since=0`)).status).toBe(500);
    allow();
    expect(told(await push(relay, 'rights', 'b'))).toEqual([200, null, '2']);
  },
);

relayTest(
  'RLY-9, RLY-13: seqs that another relay took and never used are passed, and not where the right to look is missing',
  async ({ relay, proxy }) => {
    await push(relay, 'burned', 'a');
    for (let n = 0; n < 2; n++) await burnSeq(proxy.endpoint, env.RELAY_DYNAMODB_TABLE, 'burned');
    expect(told(await push(relay, 'burned', 'b'))).toEqual([200, null, '4']);
    const allow = proxy.add(deny('GetItem'));
    expect((await fetch(`${relay.url}/streams/burned/ops?since=0`)).status).toBe(500);
    allow();
    expect(await pull(relay, 'burned')).toEqual(['a', 'b']);
    expect(told(await push(relay, 'burned', 'c'))).toEqual([200, null, '5']);
  },
);

relayTest('D1, RLY-5: a transaction whose answer is lost is answered as it was stored', async ({ relay, proxy }) => {
  await push(relay, 'lost', 'a');
  proxy.add(loseAnswer(first(1, transactions)));
  expect(told(await push(relay, 'lost', 'b', 'c'))).toEqual([200, null, '3']);
  expect(told(await push(relay, 'lost', 'c'))).toEqual([200, null, '3']);
  expect(await pull(relay, 'lost')).toEqual(['a', 'b', 'c']);
});

relayTest(
  'D4, D7, D8, RLY-11: a stream of which the table takes no more is a 503 that says when to come back; others go on',
  async ({ relay, proxy }) => {
    await push(relay, 'full', 'a');
    proxy.add(ofStream('full', cancel(transactions, ['None', 'ThrottlingError'])));
    const refused = await push(relay, 'full', 'b');
    expect(told(refused)).toEqual([503, 'not-done', null]);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(told(await push(relay, 'free', 'a'))).toEqual([200, null, '1']);
    proxy.clear();
    expect(told(await push(relay, 'full', 'b'))).toEqual([200, null, '2']);
  },
);

relayTest(
  'RLY-10, R23: a push past its deadline is 503 and unknown; what was stored of it stays, the rest may be stored later, and a push again finds it',
  async (scene) => {
    const { relay, proxy } = scene;
    const ids = Array.from({ length: 60 }, (_, i) => `late-${i}`);
    const held = hold(every(2, transactions));
    proxy.add(ofStream('late', held.rule));
    const late = push(relay, 'late', ...ids);
    await held.arrived;
    expect(told(await late)).toEqual([503, 'unknown', null]);
    expect(await pull(relay, 'late')).toEqual(ids.slice(0, 49));
    held.release();
    expect(told(await push(relay, 'late', ...ids, 'new'))).toEqual([200, null, '61']);
    expect(await pull(relay, 'late')).toEqual([...ids, 'new']);
  },
);

relayTest(
  'D2, OPS-6: a transaction that DynamoDB says is in progress is a 503 of unknown outcome, whatever it was for',
  async ({ relay, proxy }) => {
    await push(relay, 'progress', 'a');
    proxy.add(ofStream('progress', fail(transactions, 'TransactionInProgressException')));
    const answers = await Promise.all([
      push(relay, 'progress', 'b'),
      register(relay, 'progress', 'aaaa'),
      fetch(`${relay.url}/v1/streams/progress`, { method: 'DELETE' }),
    ]);
    expect(answers.map(told)).toEqual(answers.map(() => [503, 'unknown', null]));
    for (const answer of answers) expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    proxy.clear();
    expect(told(await push(relay, 'progress', 'b'))).toEqual([200, null, '2']);
    expect(await (await register(relay, 'progress', 'aaaa')).json()).toEqual({ outcome: 'registered' });
  },
);

relayTest(
  'RLY-12: an op that no item can hold is a 413 that names it, and those before it are stored',
  async ({ relay }) => {
    const ops = [anOp({ opId: 'fits' }), anOp({ opId: 'huge', value: 'x'.repeat(420_000) }), anOp({ opId: 'after' })];
    const refused = await post(relay, 'large/ops', encodePush(ops));
    expect(refused.status).toBe(413);
    expect(await refused.text()).toContain('huge');
    expect(await pull(relay, 'large')).toEqual(['fits']);
    expect(told(await push(relay, 'large', 'huge'))).toEqual([200, null, '2']);
  },
);

/** What a relay says on standard error that does not start. */
async function refusal(settings: Record<string, string>): Promise<string> {
  const service = new ServiceProcess('relay', { RELAY_ADDR: '127.0.0.1:0', TIDEMARK_DATA: folder, ...settings });
  const { code, stderr } = await service.exited;
  expect(code).toBe(1);
  return stderr;
}

relayTest(
  'OPS-2: a relay without its tables, or without a right on them, does not start and says why',
  async ({ proxy }) => {
    expect(await refusal({ ...env, RELAY_DYNAMODB_TABLE: 'none', RELAY_DYNAMODB_REGISTRY_TABLE: 'neither' })).toBe(
      'relay: cannot start: RELAY_DYNAMODB_TABLE: there is no table "none"; ' +
        'RELAY_DYNAMODB_REGISTRY_TABLE: there is no table "neither"\n',
    );
    proxy.add(deny('ConditionCheckItem'));
    const { RELAY_DYNAMODB_TABLE: table } = env;
    expect(await refusal(env)).toBe(
      `relay: cannot start: RELAY_DYNAMODB_TABLE: dynamodb:ConditionCheckItem is not allowed on the table "${table}"\n`,
    );
  },
);

dynamodbTest(
  'OPS-2: tables that the script makes are tables that a relay starts on',
  async ({ endpoint }) => {
    const names = { RELAY_DYNAMODB_TABLE: 'made_ops', RELAY_DYNAMODB_REGISTRY_TABLE: 'made_registry' };
    const script = path.join(root, 'tools/launcher/tables.mjs');
    const make = () =>
      promisify(execFile)(process.execPath, [script, '--endpoint', endpoint], { env: { ...process.env, ...names } });
    expect((await make()).stdout.split('\n')).toEqual(expect.arrayContaining(Object.values(names)));
    expect((await make()).stdout.split('\n')).toEqual(expect.arrayContaining(Object.values(names)));
    const started = await RelayProcess.start({
      ...{ TIDEMARK_DATA: folder, RELAY_STORE: 'dynamodb', DYNAMODB_ENDPOINT: endpoint },
      ...names,
    });
    await started.stop();
  },
  60_000,
);

describe('the bundle of the relay', () => {
  const bundle = path.join(root, 'dist/apps/relay');
  const textOf = (file: string) => readFileSync(path.join(bundle, file), 'utf8');
  const imports = (text: string, form: RegExp) => [...text.matchAll(form)].map((match) => match[1] as string);

  /** What is loaded with a chunk: packages and chunks, without those that are asked for later. */
  function loadedWith(file: string, seen = new Set<string>()): Set<string> {
    if (seen.has(file)) return seen;
    seen.add(file);
    if (!file.startsWith('./')) return seen;
    const form = /^(?:import|export)\s*(?:[^"'()]*?\sfrom\s*)?["']([^"']+)["']/gm;
    for (const from of imports(textOf(file), form)) loadedWith(from, seen);
    return seen;
  }

  test('a relay that does not ask for DynamoDB loads nothing of the AWS SDK', () => {
    const adapters = imports(textOf('main.js'), /import\(["'](\.\/[^"']+)["']\)/g);
    const usesSdk = (file: string) => [...loadedWith(file)].some((one) => /^@(aws-sdk|smithy)\//.test(one));
    expect(loadedWith('./main.js').size).toBeGreaterThan(10);
    expect(usesSdk('./main.js')).toBe(false);
    expect(adapters.filter(usesSdk)).toEqual(['./op-store-dynamodb.js']);
    expect(adapters).toContain('./op-store-sql.js');
  });

  test('nothing that is there for tests is in it', () => {
    const texts = readdirSync(bundle).filter((file) => file.endsWith('.js'));
    const found = texts.filter((file) =>
      /ManualTime|SeededRandom|MemoryOpStore|faultProxy|testHook|test-seam/i.test(textOf(file)),
    );
    expect(found).toEqual([]);
  });
});
