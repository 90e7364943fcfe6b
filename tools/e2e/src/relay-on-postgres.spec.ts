import { setTimeout as after } from 'node:timers/promises';
import { SeededRandom } from '@tidemark/libs-kernel/testing';
import { anOp } from '@tidemark/libs-op-store-contract/testing';
import { decodePage, encodePush } from '@tidemark/libs-wire';
import { type PresentService, serverTests, startedHere } from '@tidemark/tools-services/testing';
import { RelayProcess } from './relay-process.ts';
import { buildServices } from './service-process.ts';

beforeAll(() => buildServices('relay'), 60_000);

const postgresTest = serverTests('postgres');
const relays: RelayProcess[] = [];
afterEach(() => Promise.all(relays.splice(0).map((relay) => relay.stop())));

async function start({ endpoint }: PresentService, env: NodeJS.ProcessEnv = {}): Promise<RelayProcess> {
  const relay = await RelayProcess.start({ RELAY_STORE: 'postgres', DATABASE_URL: endpoint, ...env });
  relays.push(relay);
  return relay;
}

const JSON_TYPE = { 'content-type': 'application/json' };
const post = ({ url }: RelayProcess, path: string, body: string) =>
  fetch(url + path, { method: 'POST', headers: JSON_TYPE, body });
const push = (relay: RelayProcess, stream: string, ops: Parameters<typeof anOp>[0][]) =>
  post(relay, `/streams/${stream}/ops`, encodePush(ops.map((op) => anOp(op))));

async function pull({ url }: RelayProcess, stream: string): Promise<string[]> {
  const ids: string[] = [];
  for (let since = 0n; ;) {
    const answer = await fetch(`${url}/streams/${stream}/ops?since=${since}`);
    const { ops, next } = decodePage(new Uint8Array(await answer.arrayBuffer()));
    if (next === since) return ids;
    ids.push(...ops.map(({ opId }) => opId));
    since = next;
  }
}

postgresTest(
  'RLY-15, RLY-12: presence, a NUL in a push, and a replica that joins after kill -9 of the relay, over HTTP on Postgres',
  async (postgres) => {
    const relay = await start(postgres);
    expect((await post(relay, '/streams/s/machines', '{"machine_id":"m","name":"é","interval_secs":300}')).status).toBe(
      204,
    );
    expect((await post(relay, '/streams/s/machines', '{"machine_id":"m","name":" ","interval_secs":300}')).status).toBe(
      400,
    );
    expect((await post(relay, '/streams/s/register', '{"prefix":"aaaa","replica_uuid":"m"}')).status).toBe(200);
    const refused = await push(relay, 's', [{ opId: 'a' }, { opId: 'b', value: 'x\0' }, { opId: 'c' }]);
    expect([refused.status, refused.headers.get('tidemark-outcome')]).toEqual([422, 'partly']);
    expect(await refused.text()).toMatch(/op "b": its value holds U\+0000/);
    expect((await push(relay, 's', [{ opId: 'd' }])).status).toBe(200);
    await relay.stop();
    const next = await start(postgres);
    expect((await push(next, 's', [{ opId: 'd' }, { opId: 'e' }])).headers.get('tidemark-seq')).toBe('3');
    expect(await pull(next, 's')).toEqual(['a', 'd', 'e']);
    expect(await (await fetch(`${next.url}/streams/s/machines`)).json()).toMatchObject({
      machines: [{ machine_id: 'm', name: 'é' }],
    });
    const again = await post(next, '/streams/s/register', '{"prefix":"bbbb","replica_uuid":"m"}');
    expect(await again.json()).toEqual({ outcome: 'reassigned', new_prefix: 'aaaa' });
  },
  120_000,
);

postgresTest(
  'R46: a relay that is stopped while it writes holds no other relay up, and when it goes on nothing is doubled or out of order',
  async (postgres) => {
    const [stopped, other] = await Promise.all([start(postgres), start(postgres)]);
    const random = new SeededRandom(46);
    const pushes: string[][] = [];
    for (let round = 0; round < 3; round++) {
      const mine = [0, 1, 2].map((n) => [0, 1, 2].map((k) => `stopped-${round}-${n}-${k}`));
      const value = 'v'.repeat(900_000);
      const under = mine.map((ids) =>
        push(
          stopped,
          'r46',
          ids.map((opId) => ({ opId, value })),
        ).catch(() => null),
      );
      await after(random.fraction() * 200);
      stopped.kill('SIGSTOP');
      const theirs = [0, 1, 2].map((n) => [`other-${round}-${n}`]);
      for (const ids of theirs)
        expect(
          (
            await push(
              other,
              'r46',
              ids.map((opId) => ({ opId })),
            )
          ).status,
        ).toBe(200);
      stopped.kill('SIGCONT');
      await Promise.all(under);
      for (const ids of mine)
        expect(
          (
            await push(
              other,
              'r46',
              ids.map((opId) => ({ opId })),
            )
          ).status,
        ).toBe(200);
      pushes.push(...mine, ...theirs);
    }
    const stored = await pull(other, 'r46');
    expect([...stored].sort()).toEqual(pushes.flat().sort());
    for (const ids of pushes) expect(stored.filter((id) => ids.includes(id))).toEqual(ids);
    expect(await pull(stopped, 'r46')).toEqual(stored);
  },
  240_000,
);

postgresTest(
  'SEC-1, OPS-6: while Postgres is away refusals and readiness say so, and name neither its address nor its host',
  async (postgres) => {
    if (!startedHere('kill -9 of Postgres', postgres)) return;
    const relay = await start(postgres);
    await postgres.server.crash();
    const port = new URL(postgres.endpoint).port;
    const answers = [
      await push(relay, 's', [{ opId: 'x' }]),
      await fetch(`${relay.url}/streams/s/ops`),
      await fetch(`${relay.url}/v1/streams`),
      await post(relay, '/streams/s/register', '{"prefix":"aaaa","replica_uuid":"m"}'),
      await fetch(`${relay.url}/readyz`),
    ];
    await postgres.server.restart();
    for (const answer of answers.slice(1)) {
      expect(answer.status).toBe(503);
      const text = await answer.text();
      expect(text).toContain('not available now');
      expect(text).not.toMatch(new RegExp(`127\\.0\\.0\\.1|${port}|Postgres`));
    }
  },
  120_000,
);
