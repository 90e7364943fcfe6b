import { compareUtf8 } from '@tidemark/libs-kernel';
import fc from 'fast-check';
import {
  SORT_KEY_BYTES_MAX,
  documentKey,
  epochKeys,
  escaped,
  idOf,
  kindKeys,
  parkedKey,
  parkedKeys,
  parkedSeq,
  streamKeys,
  unescaped,
} from './keys.ts';

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 6 }),
  fc.constantFrom('', '#', '%', '%23', '%2523', 'a#b', '\0', '😀', '\uffff', '$', '.mark'),
);
const epochs = fc.integer({ min: 1, max: 9_999_999_999 });
const seqs = fc.bigInt({ min: 1n, max: 2n ** 63n - 1n });
const inside = (sk: string, { from, to }: { from: string; to: string }) =>
  compareUtf8(sk, from) >= 0 && compareUtf8(sk, to) <= 0;

describe('keys of the views table', () => {
  it('SEC-2: are different for different documents, and give the id back', () => {
    fc.assert(
      fc.property(epochs, text, text, epochs, text, text, (e1, k1, i1, e2, k2, i2) => {
        const isSame = e1 === e2 && k1 === k2 && i1 === i2;
        expect(documentKey(e1, k1, i1) === documentKey(e2, k2, i2)).toBe(isSame);
        expect(idOf(documentKey(e1, k1, i1))).toBe(i1);
        expect(unescaped(escaped(k1))).toBe(k1);
      }),
    );
  });

  it('FLD-8: sort the documents of a kind by the bytes of their ids, apart from every other kind and epoch', () => {
    fc.assert(
      fc.property(epochs, epochs, text, text, text, text, (epoch, other, kind, kind2, a, b) => {
        const [one, two] = [documentKey(epoch, kind, a), documentKey(epoch, kind, b)];
        expect(Math.sign(compareUtf8(one, two))).toBe(Math.sign(compareUtf8(a, b)));
        expect(inside(one, kindKeys(epoch, kind, null))).toBe(true);
        expect(inside(one, kindKeys(epoch, kind, b)) || compareUtf8(a, b) < 0).toBe(true);
        expect(inside(documentKey(other, kind2, a), kindKeys(epoch, kind, null))).toBe(
          other === epoch && kind === kind2,
        );
        expect(inside(two, epochKeys(epoch, epoch))).toBe(true);
        expect(inside(documentKey(other, kind2, a), epochKeys(epoch, epoch))).toBe(other === epoch);
      }),
    );
  });

  it('FLD-6: sort parked ops by their seqs as numbers, apart from documents and marks', () => {
    fc.assert(
      fc.property(epochs, seqs, seqs, text, (epoch, a, b, id) => {
        const [one, two] = [parkedKey(epoch, a), parkedKey(epoch, b)];
        expect(Math.sign(compareUtf8(one, two))).toBe(a < b ? -1 : a > b ? 1 : 0);
        expect(parkedSeq(one)).toBe(a);
        expect(inside(one, parkedKeys(epoch, epoch))).toBe(true);
        expect(inside(documentKey(epoch, id, id), parkedKeys(1, 9_999_999_999))).toBe(false);
        expect(inside('.mark', epochKeys(1, 9_999_999_999))).toBe(false);
      }),
    );
  });

  it('FLD-8: begin a page at a key that DynamoDB takes, however long `after` is, and leave nothing above it out', () => {
    for (const after of ['a'.repeat(3000), '😀'.repeat(400), `${'é'.repeat(506)}x`]) {
      const { from } = kindKeys(1, 'events', after);
      expect(Buffer.byteLength(from)).toBeLessThanOrEqual(SORT_KEY_BYTES_MAX);
      expect(from.isWellFormed()).toBe(true);
      expect(documentKey(1, 'events', after).startsWith(from)).toBe(true);
    }
    expect(Buffer.byteLength(streamKeys('s'.repeat(3000)).from)).toBeLessThanOrEqual(SORT_KEY_BYTES_MAX);
  });
});
