import { anOp } from '@tidemark/libs-op-store-contract/testing';
import { serverTests } from '@tidemark/tools-services/testing';
import { SpecStore } from './spec-store.ts';

const dynamodbTest = serverTests('dynamodb');

dynamodbTest(
  'RLY-9: a run of a million burned seqs is judged by the hundred, and known as one range afterwards',
  async ({ endpoint }) => {
    const spec = await SpecStore.make(endpoint);
    for (const seq of [1n, 1_000_002n]) await spec.plant('s', seq, anOp({ opId: `op-${seq}` }));
    await spec.plantCounter('s', 1_000_002n);
    const { store, client, logged } = spec.open();
    let judged = 0;
    client.between = async ({ name, input }, pass) => {
      client.sent.length = 0;
      if (name !== 'TransactGetItems') return pass();
      judged++;
      // All absent but the witness, which is the last one.
      const { length } = input['TransactItems'] as object[];
      return { Responses: Array.from({ length }, (_, i) => (i === length - 1 ? { Item: {} } : {})) };
    };
    for (let n = 0; n < 2; n++) {
      const { ops, next } = await store.read('s', 0n, 10);
      expect([ops.map(({ seq }) => seq), next]).toEqual([[1n, 1_000_002n], 1_000_002n]);
    }
    expect(judged).toBe(Math.ceil(1_000_000 / 99));
    expect(logged.map(({ fields }) => fields)).toEqual([{ stream: 's', from: '2', to: '1000001' }]);
  },
  120_000,
);
