import { PutItemCommand } from '@aws-sdk/client-dynamodb';
import { anOp } from '@tidemark/libs-op-store-contract/testing';
import { I64_MAX, I64_MIN, type Op } from '@tidemark/libs-wire';
import { serverTests } from '@tidemark/tools-services/testing';
import { claimItemBytes, fittingOf, ITEM_BYTES_MAX, numberBytes, opItemBytes, refusalOf } from './item-size.ts';
import { claimItem, opItem } from './op-item.ts';
import { SpecStore } from './spec-store.ts';

const dynamodbTest = serverTests('dynamodb');

/** An op whose item takes that much by our count, in a stream whose id is `s`. */
function ofBytes(bytes: number, fields: Partial<Op> = {}): Op {
  const op = anOp({ ...fields, value: '' });
  return { ...op, value: 'v'.repeat(bytes - opItemBytes('s', op)) };
}

describe('the size of an item', () => {
  it.each([
    ['0', 2],
    ['7', 2],
    ['42', 3],
    ['-42', 4],
    ['1000000', 2],
    [String(I64_MAX), 11],
    [String(I64_MIN), 12],
  ])('RLY-12: of the number %s is %d bytes, never less than the table counts', (text, bytes) => {
    expect(numberBytes(text)).toBe(bytes);
  });

  dynamodbTest('RLY-12: is never below what the table counts, and at most 20 bytes above', async ({ endpoint }) => {
    const { tables } = await SpecStore.make(endpoint);
    const isTaken = (op: Op, seq: bigint): Promise<boolean> =>
      tables.client.send(new PutItemCommand({ TableName: tables.opsTable, Item: opItem('s', seq, op) })).then(
        () => true,
        () => false,
      );
    const variations: Partial<Op>[] = [
      {},
      { lamport: I64_MAX, site: I64_MIN, envelopeVersion: 65_535 },
      { lamport: 0n, site: 0n, envelopeVersion: 0, extra: '{"sig":"mQ"}' },
      { author: 'λ🔑'.repeat(500), opId: '' },
    ];
    for (const fields of variations) {
      for (const seq of [1n, I64_MAX]) {
        expect(await isTaken(ofBytes(ITEM_BYTES_MAX, fields), seq)).toBe(true);
        expect(await isTaken(ofBytes(ITEM_BYTES_MAX + 20, fields), seq)).toBe(false);
      }
    }
  });

  it('RLY-12: of a claim is at least what its item takes', () => {
    const opId = 'λ'.repeat(100);
    const counted = Object.entries(claimItem('stream', opId, I64_MAX)).reduce((bytes, [name, value]) => {
      return (
        bytes + name.length + (value.S === undefined ? numberBytes(value.N as string) : Buffer.byteLength(value.S))
      );
    }, 0);
    expect(claimItemBytes('stream', anOp({ opId }))).toBeGreaterThanOrEqual(counted);
    expect(claimItemBytes('stream', anOp({ opId }))).toBeLessThan(counted + 20);
  });
});

describe('an op that is too large', () => {
  // kills: item-size.ts: + USUAL_STREAM_ID_BYTES > ITEM_BYTES_MAX => > ITEM_BYTES_MAX + 512
  it('RLY-12: is refused before anything is sent, by its name, and no op of 256 bytes less is', () => {
    expect(refusalOf(ofBytes(ITEM_BYTES_MAX + 1))).toMatchObject({
      code: 'too_large',
      outcome: 'not-done',
      message: 'op "op-1": it takes more than the 409600 bytes of a DynamoDB item',
    });
    expect(refusalOf(ofBytes(ITEM_BYTES_MAX - 256))).toBeNull();
    expect(refusalOf(anOp())).toBeNull();
    expect(refusalOf(anOp({ opId: 'x'.repeat(420_000) }))?.message.length).toBeLessThan(300);
  });

  it('RLY-12: in a stream of a long id is one that fits others', () => {
    const op = ofBytes(ITEM_BYTES_MAX - 300);
    expect(refusalOf(op)).toBeNull();
    expect(fittingOf('s', [op])).toEqual({ fitting: [op], tooLarge: null });
    const small = anOp();
    expect(fittingOf('s'.repeat(400), [small, op, small])).toEqual({
      fitting: [small],
      tooLarge: expect.objectContaining({ code: 'too_large' }),
    });
  });
});
