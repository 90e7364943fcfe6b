import { setTimeout } from 'node:timers/promises';
import type { Clock, Sleeper } from '@tidemark/libs-kernel';
import { SeededRandom } from '@tidemark/libs-kernel/testing';
import {
  callsOf,
  every,
  fail,
  first,
  loseAnswer,
  serverTests,
  startFaultProxy,
  throttle,
} from '@tidemark/tools-services/testing';
import { connectDynamodbStreams } from './connect.ts';
import { SPEC_AWS, specTables } from './spec-tables.ts';

const dynamodbTest = serverTests('dynamodb');

/** Waits are as much shorter as a server beside this process answers sooner. */
const QUICK: Clock & Sleeper = {
  now: () => Date.now(),
  monotonic: () => performance.now() * 8,
  sleep: (ms, signal) => setTimeout(ms / 8, undefined, { signal }).catch(() => {}),
};

dynamodbTest(
  'F5, F13, FLD-4: iterators that expire, records that are trimmed, throttling, errors and lost answers lose no stream',
  async ({ endpoint }) => {
    const tables = await specTables(endpoint);
    const proxy = await startFaultProxy(endpoint);
    const feed = await connectDynamodbStreams({
      ...SPEC_AWS,
      endpoint: proxy.endpoint,
      opsTable: tables.opsTable,
      leasesTable: tables.leasesTable,
      name: 'fold',
      workerId: 'w',
      clock: QUICK,
      sleeper: QUICK,
      random: new SeededRandom(1),
      // In this process, with a server that stalls at times, a lease that lasts is not what is tried.
      leaseMs: 240_000,
      checkpointMs: 0,
      segments: 2,
    });
    try {
      proxy.add(fail(every(3, callsOf('GetRecords')), 'ExpiredIteratorException'));
      proxy.add(fail(every(7, callsOf('GetRecords')), 'TrimmedDataAccessException'));
      proxy.add(fail(every(2, callsOf('GetShardIterator', 'DescribeStream')), 'LimitExceededException'));
      proxy.add(fail(every(11, callsOf('GetRecords', 'Scan', 'Query')), 'InternalServerError', 500));
      proxy.add(throttle(every(5, callsOf('Scan', 'PutItem', 'GetItem'))));
      proxy.add(loseAnswer(first(3, callsOf('PutItem'))));
      const heads = new Map<string, bigint>();
      for (let n = 1; n <= 6; n++) {
        for (let s = 0; s < 3; s++) await tables.append(`s${s}`, BigInt(n));
        while ([0, 1, 2].some((s) => (heads.get(`s${s}`) ?? 0n) < BigInt(n))) {
          const batch = await feed.read(100, 2000).catch(() => null);
          for (const { stream, head } of batch?.changes ?? [])
            if (head > (heads.get(stream) ?? 0n)) heads.set(stream, head);
          if (batch !== null) await feed.checkpoint(batch.position).catch(() => {});
        }
      }
      proxy.clear();
      await feed.close();
      const rows = [...(await tables.leases()).values()];
      expect(rows.every(({ owner }) => owner === null)).toBe(true);
    } finally {
      await feed.close();
      await proxy.close();
    }
  },
  120_000,
);
