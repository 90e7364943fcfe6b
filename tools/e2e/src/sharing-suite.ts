import { SeededRandom } from '@tidemark/libs-kernel/testing';
import { anOp } from '@tidemark/libs-op-store-contract/testing';
import { decodePage, encodePush } from '@tidemark/libs-wire';
import { RelayProcess } from './relay-process.ts';

/**
 * What two relays on one store promise. Both boot once, each case has a stream of its own; a failure is told with the case's title. `env`
 * holds their settings.
 */
export async function runSharingSuite(env: NodeJS.ProcessEnv): Promise<void> {
  await withPair(env, async (pair) => {
    for (const [at, { title, run }] of suite.entries()) {
      await run(pair, `stream-${at}`).catch((error: Error) => {
        throw new Error(`${title}\n${error.message}`, { cause: error });
      });
    }
  });
}

interface Pair {
  readonly a: RelayProcess;
  readonly b: RelayProcess;
  /** Kills the second relay and starts it anew. */
  crashB(): Promise<void>;
}

async function withPair(env: NodeJS.ProcessEnv, run: (pair: Pair) => Promise<void>): Promise<void> {
  const start = () => RelayProcess.start(env);
  const [a, first] = await Promise.all([start(), start()]);
  let b = first;
  const pair: Pair = {
    a,
    get b() {
      return b;
    },
    async crashB() {
      await b.stop();
      b = await start();
    },
  };
  try {
    await run(pair);
  } finally {
    await Promise.all([a.stop(), b.stop()]);
  }
}

/** The highest seq of the push. */
async function push(relay: RelayProcess, stream: string, ...opIds: string[]): Promise<bigint> {
  const body = encodePush(
    opIds.map((opId) => anOp({ opId, value: opId.startsWith('large') ? 'v'.repeat(300_000) : opId })),
  );
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(`${relay.url}/streams/${stream}/ops`, { method: 'POST', headers, body });
  if (answer.status !== 200) throw new Error(`${answer.status} ${await answer.text()}`);
  return BigInt(answer.headers.get('tidemark-seq') as string);
}

/** Op ids of the stream in order, from the cursor on, in pages of `limit`. */
async function pullAll(relay: RelayProcess, stream: string, limit = 500, from = 0n): Promise<string[]> {
  const ids: string[] = [];
  for (let since = from; ;) {
    const page = await pullPage(relay, stream, limit, since);
    if (page.next === since) return ids;
    ids.push(...page.ids);
    since = page.next;
  }
}

async function pullPage(relay: RelayProcess, stream: string, limit: number, since: bigint) {
  const answer = await fetch(`${relay.url}/streams/${stream}/ops?since=${since}&limit=${limit}`);
  const { ops, next } = decodePage(new Uint8Array(await answer.arrayBuffer()));
  return { ids: ops.map(({ opId }) => opId), next };
}

async function register(relay: RelayProcess, stream: string, prefix: string, uuid: string): Promise<string> {
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify({ prefix, replica_uuid: uuid });
  const answer = await fetch(`${relay.url}/streams/${stream}/register`, { method: 'POST', headers, body });
  const { outcome, new_prefix } = (await answer.json()) as { outcome: string; new_prefix?: string };
  return outcome === 'registered' ? prefix : (new_prefix as string);
}

const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i);
const sorted = (seqs: readonly bigint[]) => [...seqs].sort((x, y) => Number(x - y));

const suite: readonly { title: string; run(pair: Pair, stream: string): Promise<void> }[] = [
  {
    title: 'RLY-18, RLY-4, R28: 8 writers with 50 ops each, half on either relay, take exactly the seqs 1 to 400',
    async run({ a, b }, stream) {
      const seqs = await Promise.all(
        range(1, 8).map(async (writer) => {
          const mine: bigint[] = [];
          for (const n of range(1, 50)) mine.push(await push(writer % 2 === 0 ? a : b, stream, `${writer}-${n}`));
          return mine;
        }),
      );
      for (const mine of seqs) expect(mine).toEqual(sorted(mine));
      expect(sorted(seqs.flat())).toEqual(range(1, 400).map(BigInt));
      expect(await pullAll(a, stream)).toEqual(await pullAll(b, stream, 33));
    },
  },
  {
    title: 'RLY-18, RLY-5, R26: one op pushed to both at once has one seq, is stored once, and the next op follows it',
    async run({ a, b }, stream) {
      for (const round of range(1, 10)) {
        const seqs = await Promise.all(range(1, 8).map((racer) => push(racer % 2 ? a : b, stream, `op-${round}`)));
        expect(new Set(seqs)).toEqual(new Set([BigInt(round)]));
      }
      expect(await pullAll(b, stream)).toEqual(range(1, 10).map((round) => `op-${round}`));
    },
  },
  {
    title: 'RLY-18, RLY-5: 8 writers that push the same 50 ops leave each once',
    async run({ a, b }, stream) {
      const ids = range(1, 50).map((n) => `op-${n}`);
      const seqs = await Promise.all(range(1, 8).map((writer) => push(writer % 2 ? a : b, stream, ...ids)));
      expect(new Set(seqs)).toEqual(new Set([50n]));
      expect(await pullAll(a, stream)).toEqual(ids);
    },
  },
  {
    title: 'RLY-18, RLY-15: of racers for one prefix on both relays one keeps it, and a racing replica gets one answer',
    async run({ a, b }, stream) {
      const prefixes = await Promise.all(range(1, 8).map((n) => register(n % 2 ? a : b, stream, 'aaaa', `uuid-${n}`)));
      expect(new Set(prefixes).size).toBe(8);
      expect(prefixes.filter((prefix) => prefix === 'aaaa')).toHaveLength(1);
      const same = await Promise.all(range(1, 8).map((n) => register(n % 2 ? a : b, `${stream}-t`, 'bbbb', 'uuid')));
      expect(new Set(same)).toEqual(new Set(['bbbb']));
    },
  },
  {
    title:
      'RLY-3, R1, R2: a reader that follows its cursor, while large and small pushes race on both, sees every op once in order',
    async run({ a, b }, stream) {
      let writing = true;
      const follow = async (relay: RelayProcess, limit: number) => {
        const seen: string[] = [];
        for (let since = 0n; ;) {
          const last = !writing;
          const page = await pullPage(relay, stream, limit, since);
          seen.push(...page.ids);
          if (page.next === since && last) return seen;
          since = page.next;
        }
      };
      const followers = [follow(a, 500), follow(b, 7)];
      await Promise.all(
        range(1, 6).map(async (writer) => {
          for (const n of range(1, 25)) {
            const relay = (writer + n) % 2 === 0 ? a : b;
            if (writer === 1) await push(relay, stream, `large-${n}`, `after-large-${n}`);
            else await push(relay, stream, `${writer}-${n}`);
          }
        }),
      );
      writing = false;
      const [first, second] = await Promise.all(followers);
      expect(first).toEqual(await pullAll(a, stream));
      expect(second).toEqual(first);
      expect(new Set(first).size).toBe(6 * 25 + 25);
    },
  },
  {
    title:
      'RLY-6, R23, R38: a relay killed under load loses nothing that it answered; a push again answers the old places',
    async run(pair, stream) {
      const random = new SeededRandom(18);
      const acked = new Map<string, bigint>();
      for (const round of range(1, 2)) {
        const answered = { count: 0 };
        const until = 5 + Math.floor(random.fraction() * 30);
        const enough = new Promise<void>((resolve) => {
          void Promise.all(
            range(1, 6).map(async (writer) => {
              for (const n of range(1, 25)) {
                const opId = `${round}-${writer}-${n}`;
                const seq = await push(writer % 2 ? pair.a : pair.b, stream, opId).catch(() => null);
                if (seq !== null) acked.set(opId, seq);
                if (++answered.count === until) resolve();
              }
            }),
          ).then(() => resolve());
        });
        await enough;
        await pair.crashB();
        // The client whose answer was lost pushes again.
        await Promise.all(
          range(1, 6).map(async (writer) => {
            for (const n of range(1, 25)) {
              const opId = `${round}-${writer}-${n}`;
              const seq = await push(pair.b, stream, opId);
              expect(acked.get(opId) ?? seq).toBe(seq);
              acked.set(opId, seq);
            }
          }),
        );
      }
      expect(sorted([...acked.values()])).toEqual(range(1, 2 * 6 * 25).map(BigInt));
      const stored = await pullAll(pair.a, stream);
      expect(stored).toEqual([...acked].sort(([, x], [, y]) => Number(x - y)).map(([opId]) => opId));
    },
  },
];
