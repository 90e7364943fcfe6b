import type { Field, FieldShape, Member } from '@tidemark/libs-views-contract';
import * as fc from 'fast-check';
import { renderField } from './render-field.ts';

type Entry = readonly [tag: string, value: string, lamport: bigint, site: bigint];

function field(shape: FieldShape, ...entries: readonly Entry[]): Field {
  const members = entries.map(([tag, value, lamport, site]): [string, Member] => {
    return [tag, { value, version: { rank: 0n, lamport, site, seq: lamport + 100n } }];
  });
  return { shape, members: new Map(members) };
}

const valueOf = (...of: Parameters<typeof field>) => renderField(field(...of)).value;

describe('a field is shown', () => {
  it('FLD-8: as the text of its register, to the byte', () => {
    expect(valueOf('register', ['', ' {"n":1.0}', 1n, 1n])).toBe(' {"n":1.0}');
  });

  // kills: render-field.ts: [...new Set(byAge.map(valueOf))].sort(compareUtf8) => byAge.map(valueOf).sort(compareUtf8)
  it('FLD-8: as a set of elements, each once, by their UTF-8 bytes', () => {
    const elements = ['"😀"', '"\uffee"', '"b"', '"b"', '10', '9'];
    expect(valueOf('set', ...elements.map((value, at): Entry => [`t${at}`, value, BigInt(9 - at), 0n]))).toBe(
      '["b","\uffee","😀",10,9]',
    );
  });

  // kills: render-field.ts: return compareUtf8(tagA, tagB) => return 0
  it('FLD-8: as a list by lamport, then site, then the bytes of the tag', () => {
    const entries: Entry[] = [
      ['😀', '5', 2n, 1n],
      ['\uffee', '4', 2n, 1n],
      ['a', '3', 2n, -1n],
      ['b', '2', -(2n ** 63n), 9n],
      ['c', '6', 2n ** 62n, 0n],
    ];
    expect(valueOf('list', ...entries)).toBe('[2,3,4,5,6]');
  });

  it('FLD-8: as the latest member by lamport, then site, then the bytes of the tag', () => {
    expect(valueOf('latest', ['a', '1', 2n, 1n], ['b', '2', 1n, 9n])).toBe('1');
    expect(valueOf('latest', ['a', '1', 2n, 1n], ['b', '2', 2n, 2n])).toBe('2');
    expect(valueOf('latest', ['\uffee', '1', 2n, 1n], ['😀', '2', 2n, 1n])).toBe('2');
  });

  // kills: render-field.ts: sum + totalOf(entry), 0n) => sum + Number(totalOf(entry)), 0)
  it('FLD-8: as the exact sum of its counts, also beyond 64 bits', () => {
    expect(valueOf('counter', ['1', '9007199254740993', 1n, 1n], ['-2', '-3', 1n, -2n])).toBe('9007199254740990');
    const most: Entry[] = ['1', '2', '3'].map((site) => [site, '9223372036854775807', 1n, 1n]);
    expect(valueOf('counter', ...most)).toBe('27670116110564327421');
  });

  it('FLD-8: with the version of its newest present member', () => {
    const two = field('set', ['a', '1', 5n, 1n], ['b', '2', 4n, 7n]);
    expect(renderField(two).version).toEqual({ rank: 0n, lamport: 5n, site: 1n, seq: 105n });
  });

  it('FLD-8: the same whatever order a store gives its members in', () => {
    const entry = fc.tuple(
      fc.string({ unit: 'binary', maxLength: 2 }),
      fc.constantFrom('1', '2', '-3'),
      fc.constantFrom(-1n, 0n, 1n),
      fc.constantFrom(0n, 1n),
    );
    const entries = fc.uniqueArray(entry, { minLength: 1, selector: ([tag]) => tag });
    const twice = entries.chain((all) =>
      fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length })),
    );
    const shape = fc.constantFrom<FieldShape>('set', 'list', 'latest', 'counter');
    fc.assert(
      fc.property(shape, twice, (of, [one, other]) => {
        expect(renderField(field(of, ...one))).toEqual(renderField(field(of, ...other)));
      }),
    );
  });
});
