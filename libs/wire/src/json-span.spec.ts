import fc from 'fast-check';
import { jsonSpan } from './json-span.ts';

const cut = (text: string, ...path: string[]) => {
  const span = jsonSpan(text, path);
  return span === null ? null : text.slice(span.start, span.end);
};

test('J8: a value is found where it stands, with every digit that it was written with', () => {
  const text = ' { "a" : { "b" : [ 1.0 , 9007199254740993 , "x" ] } , "\\u0063" : -0 } ';
  expect(cut(text, 'a', 'b', '1')).toBe('9007199254740993');
  expect(cut(text, 'a', 'b')).toBe('[ 1.0 , 9007199254740993 , "x" ]');
  expect(cut(text, 'c')).toBe('-0');
  expect(cut(text)).toBe(text.trim());
});

test.each([['z'], ['a', 'z'], ['a', 'b', '3'], ['a', 'b', '-1'], ['c', 'x'], ['e', 'x'], ['f', '0']])(
  'a path that leads nowhere has no place: %j',
  (...path) => {
    expect(cut('{"a":{"b":[1,2,3]},"c":1,"e":{},"f":[]}', ...path)).toBeNull();
  },
);

test('J14: __proto__ is a member like any other', () => {
  expect(cut('{"__proto__":{"constructor":2}}', '__proto__', 'constructor')).toBe('2');
  expect(cut('{"a":{}}', 'constructor')).toBeNull();
});

test('J8: each member of any object is found by its path', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string({ unit: 'grapheme' }), fc.jsonValue()), (object) => {
      const text = JSON.stringify(object);
      for (const name of Object.keys(object))
        expect(JSON.parse(cut(text, name)!)).toEqual(JSON.parse(JSON.stringify(object[name])));
    }),
  );
});
