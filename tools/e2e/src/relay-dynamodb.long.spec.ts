import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { anOp } from '@tidemark/libs-op-store-contract/testing';
import { encodePush } from '@tidemark/libs-wire';
import {
  callsOf,
  cancel,
  delay,
  every,
  first,
  forgetTokens,
  hold,
  loseAnswer,
  serverTests,
  startFaultProxy,
  throttle,
} from '@tidemark/tools-services/testing';
import { dynamodbEnv } from './relay-dynamodb.ts';
import { RelayProcess } from './relay-process.ts';
import { buildServices } from './service-process.ts';
import { runSharingSuite } from './sharing-suite.ts';

const onDynamodb = serverTests('dynamodb');
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'tidemark-faults-'));
  await buildServices('relay');
}, 60_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const writes = callsOf('TransactWriteItems');
const reads = callsOf('Query', 'GetItem', 'TransactGetItems');

onDynamodb(
  'D2: a transaction that nobody answers for five seconds is sent again while the first still runs, and is stored once',
  async ({ endpoint }) => {
    const proxy = await startFaultProxy(endpoint);
    const env = await dynamodbEnv(endpoint, proxy.endpoint);
    const relay = await RelayProcess.start({ TIDEMARK_DATA: folder, ...env });
    const push = async (opId: string) => {
      const headers = { 'content-type': 'application/json' };
      const body = encodePush([anOp({ opId })]);
      const answer = await fetch(`${relay.url}/streams/s/ops`, { method: 'POST', headers, body });
      return [answer.status, answer.headers.get('tidemark-seq')];
    };
    try {
      const held = hold(first(1, writes));
      const again = hold(every(2, writes));
      proxy.add(held.rule);
      proxy.add(again.rule);
      const pushed = push('a');
      expect((await again.arrived).body).toEqual((await held.arrived).body);
      held.release();
      again.release();
      expect(await pushed).toEqual([200, '1']);
      expect(await push('a')).toEqual([200, '1']);
      expect(await push('b')).toEqual([200, '2']);
    } finally {
      await relay.stop();
      await proxy.close();
    }
  },
  120_000,
);

for (const opsMax of ['49', '1'])
  for (const tokens of ['known', 'ignored'])
    onDynamodb(
      `RLY-18, RLY-8, D5: two relays with rounds of ${opsMax} keep every promise while the table conflicts, throttles and loses answers, with tokens ${tokens}`,
      async ({ endpoint }) => {
        const proxy = await startFaultProxy(endpoint);
        try {
          if (tokens === 'ignored') proxy.add(forgetTokens());
          // Rates that no call meets three times in a row, after which the SDK gives up.
          proxy.add(loseAnswer(every(23, writes)));
          proxy.add(cancel(every(11, writes), ['TransactionConflict']));
          proxy.add(throttle(every(29, writes)));
          proxy.add(throttle(every(31, reads)));
          proxy.add(loseAnswer(every(37, reads)));
          proxy.add(delay(5, every(3, writes)));
          await runSharingSuite({
            ...(await dynamodbEnv(endpoint, proxy.endpoint)),
            TIDEMARK_DATA: folder,
            RELAY_DYNAMODB_MAX_OPS_PER_ROUND: opsMax,
            RELAY_PUSH_DEADLINE_SECS: '300',
            RELAY_CONTENTION_ROUNDS: '10000',
          });
        } finally {
          await proxy.close();
        }
      },
      600_000,
    );
