import { anOp, someOps } from '@tidemark/libs-op-store-contract/testing';
import type { ReadPage } from '@tidemark/libs-op-store-contract';
import { serverTests } from '@tidemark/tools-services/testing';
import type { Item } from './op-item.ts';
import { type Between, type OpenedStore, type Sent, SpecStore } from './spec-store.ts';

const dynamodbTest = serverTests('dynamodb');

const JUDGE = 'TransactGetItems';

describe('a page', () => {
  dynamodbTest(
    'RLY-1: of 40 ops of 30 kB is one, in order, though the table gives 1 MB at a time',
    async ({ endpoint }) => {
      const { store, client } = (await SpecStore.make(endpoint)).open();
      await store.append(
        's',
        someOps(40).map((op) => ({ ...op, value: 'v'.repeat(30_000) })),
      );
      client.counts();
      const page = await store.read('s', 0n, 100);
      expect(seqsOf(page)).toEqual(range(1, 40));
      expect(page.next).toBe(40n);
      expect(client.counts()).toEqual({ Query: 2 });
    },
  );

  dynamodbTest(
    'D11: of ops of nearly 400 kB goes on at each call, one op if more are not wanted',
    async ({ endpoint }) => {
      const { store } = (await SpecStore.make(endpoint)).open();
      await store.append(
        's',
        someOps(5).map((op) => ({ ...op, value: 'v'.repeat(399_000) })),
      );
      for (let after = 0n; after < 5n; after++) {
        expect(seqsOf(await store.read('s', after, 1))).toEqual([after + 1n]);
        expect(seqsOf(await store.read('s', after, 10, 1))).toEqual([after + 1n]);
      }
      expect(seqsOf(await store.read('s', 0n, 10, 900_000))).toEqual([1n, 2n]);
    },
  );

  // kills: read.ts: if (isCorrupt(thrown) && (isBehindOthers || ops.length > 0)) break; => void isCorrupt, void isBehindOthers;
  dynamodbTest(
    'RLY-1: ends before an op that cannot be read, which is a fault where it is the first',
    async ({ endpoint }) => {
      const spec = await withOps(endpoint, [1, 2, 4], 4n);
      await spec.plant('s', 3n, anOp({ opId: 'corrupt', extra: 'no object' }));
      const { store } = spec.open();
      const page = await store.read('s', 0n, 10);
      expect([seqsOf(page), page.next]).toEqual([[1n, 2n], 2n]);
      for (let n = 0; n < 2; n++)
        await expect(store.read('s', 2n, 10)).rejects.toMatchObject({
          code: 'corrupt',
          message: expect.stringContaining('seq 3'),
        });
      expect(seqsOf(await store.read('s', 3n, 10))).toEqual([4n]);
    },
  );

  // kills: read.ts: readable(items, page.ops.length > 0) => readable(items, false)
  dynamodbTest(
    'RLY-1: ends before an op that cannot be read also where the table gives it first in a page of its own',
    async ({ endpoint }) => {
      const spec = await withOps(endpoint, [1, 2], 3n);
      await spec.plant('s', 3n, anOp({ opId: 'corrupt', extra: 'no object' }));
      const { store, client } = spec.open();
      client.between = async ({ name, input }, pass) => {
        const answer = (await pass()) as { Items?: Item[] };
        const isFirst = name === 'Query' && JSON.stringify(input).includes('":a":{"N":"0"}');
        return isFirst ? { Items: answer.Items?.slice(0, 2), LastEvaluatedKey: {} } : answer;
      };
      const page = await store.read('s', 0n, 10);
      expect([seqsOf(page), page.next]).toEqual([[1n, 2n], 2n]);
      expect(client.counts()).toEqual({ Query: 2 });
    },
  );

  dynamodbTest('RLY-9: of a dense stream costs one Query, and nothing is judged', async ({ endpoint }) => {
    const { store, client } = (await SpecStore.make(endpoint)).open();
    await store.append('s', someOps(60));
    client.counts();
    await store.read('s', 0n, 100);
    expect(client.counts()).toEqual({ Query: 1 });
  });
});

describe('a hole', () => {
  // kills: gap-check.ts: burned.add(stream, gap); => void gap;
  dynamodbTest(
    'RLY-9, R7: that is burned is judged once with the op above it as a witness, remembered, counted and logged',
    async ({ endpoint }) => {
      const spec = await withOps(endpoint, [1, 2, 6, 7], 7n);
      const { store, client, holes, logged } = spec.open();
      for (let n = 0; n < 3; n++) expect(seqsOf(await store.read('s', 0n, 10))).toEqual([1n, 2n, 6n, 7n]);
      const [judge] = client.sent.filter(({ name }) => name === JUDGE);
      expect(keysOf(judge as Sent)).toEqual(['3', '4', '5', '6']);
      // The pages, and the counter once, after the judgement.
      expect(client.sent.slice(0, 3).map(({ name }) => name)).toEqual(['Query', JUDGE, 'Query']);
      expect(client.counts()).toEqual({ Query: 3 + 1, [JUDGE]: 1 });
      expect(holes).toEqual([['burned', 3]]);
      expect(logged).toEqual([{ level: 'info', fields: { stream: 's', from: '3', to: '5' }, message: 'burned seqs' }]);
    },
  );

  dynamodbTest('RLY-9, R8: is judged from the cursor on, not from the first op of the page', async ({ endpoint }) => {
    const spec = await withOps(endpoint, [1, 5], 5n);
    const { store, client } = spec.open();
    hide(client, ['3']);
    expect(await store.read('s', 1n, 10)).toEqual({ ops: [], next: 1n });
    const [judge] = client.sent.filter(({ name }) => name === JUDGE);
    expect(keysOf(judge as Sent)).toEqual(['2', '3', '4', '5']);
  });

  dynamodbTest('RLY-9, R8: at the end of a page is judged with the next one', async ({ endpoint }) => {
    const spec = await withOps(endpoint, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 13, 14], 14n);
    const { store } = spec.open();
    expect(seqsOf(await store.read('s', 0n, 10))).toEqual(range(1, 10));
    expect(seqsOf(await store.read('s', 10n, 10))).toEqual([13n, 14n]);
  });

  // kills: gap-check.ts: && !group.holes.some( => && ![].some(
  dynamodbTest(
    'RLY-3, C3: that holds an op by the time it is judged is read again, and the op served',
    async ({ endpoint }) => {
      const spec = await withOps(endpoint, [1, 3], 3n);
      const { store, client } = spec.open();
      client.between = once(JUDGE, async (_, pass) => {
        await spec.plant('s', 2n, anOp({ opId: 'late' }));
        return pass();
      });
      expect(seqsOf(await store.read('s', 0n, 10))).toEqual([1n, 2n, 3n]);
    },
  );

  // kills: gap-check.ts: isThere(group.holes.length) && => true &&
  dynamodbTest(
    'RLY-3, C1, C2: is not passed on a snapshot that does not hold the witness yet',
    async ({ endpoint }) => {
      const spec = await withOps(endpoint, [1, 3], 3n);
      const { store, client, holes } = spec.open({ patienceMs: 0 });
      client.between = async ({ name }, pass) => (name === JUDGE ? { Responses: [{}, {}] } : pass());
      expect(await store.read('s', 0n, 10)).toMatchObject({ ops: [{ seq: 1n }], next: 1n });
      expect(holes).toEqual([['held', 1]]);
    },
  );

  dynamodbTest(
    'RLY-3, RLY-9, R5, R17: beside a transaction is waited for, with jitter, as long as patience lasts, and never passed for the time that went by',
    async ({ endpoint }) => {
      const spec = await withOps(endpoint, [1, 3], 3n);
      const { store, client, time, holes } = spec.open({ patienceMs: 250 });
      client.between = async ({ name }, pass) => {
        if (name === JUDGE) throw cancelled(['TransactionConflict', 'None']);
        return pass();
      };
      expect(await store.read('s', 0n, 10)).toMatchObject({ ops: [{ seq: 1n }], next: 1n });
      expect(time.monotonic()).toBeCloseTo(250, 6);
      expect(new Set(time.slept).size).toBeGreaterThan(2);
      for (const idleMs of [0, 60_000, 86_400_000]) {
        time.advance(idleMs);
        expect(await store.read('s', 1n, 10)).toEqual({ ops: [], next: 1n });
      }
      expect(holes.every(([end]) => end === 'held')).toBe(true);
    },
  );

  dynamodbTest('RLY-3, RLY-9: is passed as soon as it may be, and what was collected is kept', async ({ endpoint }) => {
    const spec = await withOps(endpoint, [1, 3], 3n);
    const { store, client } = spec.open();
    let nth = 0;
    client.between = async ({ name }, pass) => {
      if (name === JUDGE && nth++ < 3) throw cancelled(['None', 'TransactionConflict']);
      return pass();
    };
    expect(seqsOf(await store.read('s', 0n, 10))).toEqual([1n, 3n]);
    const cursors = client.sent.flatMap(({ input }) => {
      const values = input['ExpressionAttributeValues'] as Item | undefined;
      return String(input['KeyConditionExpression']).includes('seq > ') ? [values?.[':a']?.N] : [];
    });
    expect(cursors).toEqual(['0', '1', '1', '1']);
  });

  dynamodbTest(
    'DDP-6: is never seen in a missing right, or in anything else but a conflict or a throttle',
    async ({ endpoint }) => {
      const spec = await withOps(endpoint, [1, 3], 3n);
      const { store, client } = spec.open();
      for (const [thrown, code] of [
        [named('AccessDeniedException'), 'misconfigured'],
        [cancelled(['AccessDenied', 'None']), 'internal'],
        [cancelled(['ValidationError', 'TransactionConflict']), 'internal'],
        [cancelled([]), 'internal'],
        [named('TimeoutError'), 'unavailable'],
      ] as const) {
        client.between = once(JUDGE, async () => {
          throw thrown;
        });
        await expect(store.read('s', 0n, 10)).rejects.toMatchObject({ code });
      }
      client.between = once(JUDGE, async () => {
        throw named('ThrottlingException');
      });
      expect(seqsOf(await store.read('s', 0n, 10))).toEqual([1n, 3n]);
    },
  );

  dynamodbTest(
    'RLY-9: is not passed beside a counter that is no number: the read fails and says so',
    async ({ endpoint }) => {
      const spec = await withOps(endpoint, [1, 3], 3n);
      await spec.put({ stream_id: { S: 's' }, seq: { N: '0' }, next_seq: { S: 'three' } });
      const { store } = spec.open();
      const loud = { code: 'corrupt', message: expect.stringContaining('next_seq') };
      await expect(store.read('s', 0n, 10)).rejects.toMatchObject(loud);
      expect(seqsOf(await store.read('s', 2n, 10))).toEqual([3n]);
    },
  );

  // kills: gap-check.ts: if (truncatedThrough >= lowest.from) => if (false)
  dynamodbTest(
    'RLY-3: of a truncation is no burned one: the read is refused, and says from where to go on',
    async ({ endpoint }) => {
      const spec = await withOps(endpoint, [5, 6], 6n);
      await spec.put({ stream_id: { S: 's' }, seq: { N: '0' }, next_seq: { N: '6' }, truncated_through: { N: '4' } });
      const { store } = spec.open();
      await expect(store.read('s', 0n, 10)).rejects.toMatchObject({
        code: 'conflict',
        message: expect.stringContaining('4'),
      });
      await expect(store.read('s', 3n, 10)).rejects.toMatchObject({ code: 'conflict' });
      expect(seqsOf(await store.read('s', 4n, 10))).toEqual([5n, 6n]);
    },
  );

  dynamodbTest(
    'RLY-9: below ops that the counter stands behind is held, or passed where that is set, and not remembered',
    async ({ endpoint }) => {
      const spec = await withOps(endpoint, [1, 3], 2n);
      const holding = spec.open({ patienceMs: 0 });
      expect(await holding.store.read('s', 0n, 10)).toMatchObject({ ops: [{ seq: 1n }], next: 1n });
      expect(holding.holes).toEqual([['held', 1]]);
      await holding.store.read('s', 1n, 10);
      expect(holding.logged).toMatchObject([{ level: 'warn', fields: { stream: 's', from: '2', to: '2' } }]);
      const passing = spec.open({ legacyHoles: 'pass' });
      for (let n = 0; n < 2; n++) expect(seqsOf(await passing.store.read('s', 0n, 10))).toEqual([1n, 3n]);
      expect(passing.holes).toEqual([
        ['legacy', 1],
        ['legacy', 1],
      ]);
      expect(passing.logged[0]).toMatchObject({ level: 'warn', fields: { stream: 's', from: '2', to: '2' } });
      expect(passing.client.counts()[JUDGE]).toBe(2);
      // An append moves the counter, and then there is nothing to hold.
      await holding.store.append('s', [anOp({ opId: 'new' })]);
      expect(seqsOf(await holding.store.read('s', 1n, 10))).toEqual([3n, 4n]);
      expect(holding.holes.at(-1)).toEqual(['burned', 1]);
    },
  );

  // kills: gap-check.ts: held === null ? 'hole' : 'held' => 'hole'
  dynamodbTest(
    'RLY-9: that a counter behind the ops holds is judged once in a read, because no waiting helps',
    async ({ endpoint }) => {
      const spec = await withOps(endpoint, [1, 3], 2n);
      const { store, client, time } = spec.open({ patienceMs: 250 });
      expect(await store.read('s', 0n, 10)).toMatchObject({ ops: [{ seq: 1n }], next: 1n });
      // The page, and the counter.
      expect(client.counts()).toEqual({ Query: 1 + 1, [JUDGE]: 1 });
      expect(time.slept).toEqual([]);
    },
  );

  dynamodbTest('RLY-9: below a counter is burned, though others above it are held', async ({ endpoint }) => {
    const spec = await withOps(endpoint, [1, 3, 5], 3n);
    const { store, holes } = spec.open({ patienceMs: 0 });
    expect(await store.read('s', 0n, 10)).toMatchObject({ ops: [{ seq: 1n }, { seq: 3n }], next: 3n });
    expect(holes).toEqual([
      ['burned', 1],
      ['held', 1],
    ]);
  });

  dynamodbTest(
    'RLY-3: that an older writer fills after it was remembered as burned is served all the same',
    async ({ endpoint }) => {
      const spec = await withOps(endpoint, [1, 3], 3n);
      const { store } = spec.open();
      await store.read('s', 0n, 10);
      await spec.plant('s', 2n, anOp({ opId: 'add-2' }));
      expect(seqsOf(await store.read('s', 0n, 10))).toEqual([1n, 2n, 3n]);
    },
  );

  dynamodbTest(
    'RLY-9: is judged with the smallest op above it, because a witness is billed by its size',
    async ({ endpoint }) => {
      const spec = await withOps(endpoint, [1, 5], 5n);
      await spec.plant('s', 3n, anOp({ opId: 'large', value: 'v'.repeat(50_000) }));
      const { store, client } = spec.open();
      expect(seqsOf(await store.read('s', 0n, 10))).toEqual([1n, 3n, 5n]);
      expect(client.sent.filter(({ name }) => name === JUDGE).map(keysOf)).toEqual([['2', '4', '5']]);
    },
  );

  dynamodbTest(
    'R16: in each place of a page is judged together with the others, and then known',
    async ({ endpoint }) => {
      const odd = range(1, 400).filter((seq) => seq % 2n === 1n);
      const spec = await withOps(endpoint, odd.map(Number), 400n);
      const { store, client, holes } = spec.open();
      expect(seqsOf(await store.read('s', 0n, 500))).toEqual(odd);
      // 199 holes in groups of 99: one, then the others at once; the counter after each.
      expect(client.counts()).toEqual({ Query: 1 + 2, [JUDGE]: 3 });
      expect(holes.length).toBe(199);
      expect(seqsOf(await store.read('s', 0n, 500))).toEqual(odd);
      expect(client.counts()).toEqual({ Query: 1 });
    },
  );
});

describe('a long run of burned seqs', () => {
  // kills: gap-check.ts: if (parts.clock.monotonic() >= endsAtMs()) => if (false)
  dynamodbTest(
    'RLY-9: is judged for 2 s at most; the page says how far, and the next one goes on there',
    async ({ endpoint }) => {
      const spec = await withOps(endpoint, [1, 3000], 3000n);
      const { store, client, time, logged, holes } = spec.open();
      client.between = async ({ name }, pass) => {
        if (name === JUDGE) time.advance(300);
        return pass();
      };
      const nexts: bigint[] = [];
      const seqs: bigint[] = [];
      for (let after = 0n; after < 3000n; after = nexts.at(-1) as bigint) {
        const page = await store.read('s', after, 10);
        nexts.push(page.next);
        seqs.push(...seqsOf(page));
      }
      expect(seqs).toEqual([1n, 3000n]);
      // One group of 99, then 8 at once: 9 of 300 ms are past the 2 s.
      expect(nexts).toEqual([892n, 1783n, 2674n, 3000n]);
      expect(logged.map(({ fields }) => fields)).toEqual([{ stream: 's', from: '2', to: '2999' }]);
      expect(holes.reduce((sum, [, seqs]) => sum + seqs, 0)).toBe(2998);
      client.counts();
      expect(seqsOf(await store.read('s', 0n, 10))).toEqual([1n, 3000n]);
      expect(client.counts()).toEqual({ Query: 1 });
    },
  );

  dynamodbTest(
    'RLY-9: of a million is known for the price of its last 48 seqs where rule L is set, and read in one call',
    async ({ endpoint }) => {
      const spec = await withOps(endpoint, [1, 1_000_002], 1_000_002n);
      const { store, client, holes } = spec.open({ longRuns: true });
      for (let n = 0; n < 2; n++) expect(seqsOf(await store.read('s', 0n, 10))).toEqual([1n, 1_000_002n]);
      const judges = client.sent.filter(({ name }) => name === JUDGE);
      expect(judges.map((judge) => keysOf(judge).length)).toEqual([49]);
      // The page, twice; the run once more after its witness; the counter.
      expect(client.counts()).toEqual({ Query: 2 + 1 + 1, [JUDGE]: 1 });
      expect(holes).toEqual([['burned', 1_000_000]]);
    },
  );

  // kills: gap-check.ts: if (group.isLongRun && => if (false &&
  dynamodbTest('RLY-3: in which an op has appeared is not passed by rule L', async ({ endpoint }) => {
    const spec = await withOps(endpoint, [1, 200], 200n);
    const { store, client } = spec.open({ longRuns: true });
    let nth = 0;
    client.between = async ({ name }, pass) => {
      if (name === 'Query' && ++nth === 2) await spec.plant('s', 7n, anOp({ opId: 'late' }));
      return pass();
    };
    expect(seqsOf(await store.read('s', 0n, 10))).toEqual([1n, 7n, 200n]);
  });

  dynamodbTest('RLY-9: of less than 49 is judged whole, also where rule L is set', async ({ endpoint }) => {
    const spec = await withOps(endpoint, [1, 50], 50n);
    const { store, client } = spec.open({ longRuns: true });
    await store.read('s', 0n, 10);
    expect(client.counts()).toEqual({ Query: 1 + 1, [JUDGE]: 1 });
  });
});

/** A stream `s` with ops at those seqs alone, and that counter. */
async function withOps(endpoint: string, seqs: readonly number[], counter: bigint): Promise<SpecStore> {
  const spec = await SpecStore.make(endpoint);
  for (const seq of seqs) await spec.plant('s', BigInt(seq), anOp({ opId: `op-${seq}` }));
  await spec.plantCounter('s', counter);
  return spec;
}

/** Answers that those seqs hold an op, to whoever judges. */
function hide(client: OpenedStore['client'], seqs: readonly string[]): void {
  client.between = async (sent, pass) => {
    if (sent.name !== JUDGE) return pass();
    const { Responses } = (await pass()) as { Responses: object[] };
    return { Responses: Responses.map((one, i) => (seqs.includes(keysOf(sent)[i] as string) ? { Item: {} } : one)) };
  };
}

function keysOf({ input }: Sent): string[] {
  return (input['TransactItems'] as { Get: { Key: Item } }[]).map(({ Get }) => Get.Key['seq']?.N as string);
}

function once(name: string, between: Between): Between {
  let isDone = false;
  return (sent, pass) => {
    if (sent.name !== name || isDone) return pass();
    isDone = true;
    return between(sent, pass);
  };
}

function named(name: string): Error {
  return Object.assign(new Error(`said by the test: ${name}`), { name, $metadata: {} });
}

function cancelled(codes: readonly string[]): Error {
  const CancellationReasons = codes.map((Code) => ({ Code }));
  return Object.assign(named('TransactionCanceledException'), { CancellationReasons });
}

function seqsOf({ ops }: Pick<ReadPage, 'ops'>): bigint[] {
  return ops.map(({ seq }) => seq);
}

function range(from: number, to: number): bigint[] {
  return Array.from({ length: to - from + 1 }, (_, i) => BigInt(from + i));
}
