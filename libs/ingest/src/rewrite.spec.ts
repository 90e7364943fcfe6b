import fc from 'fast-check';
import { memberField, parseField } from './field.ts';
import { rewrite } from './rewrite.ts';

const at = (text: string, value: string | number | boolean) => ({ field: parseField(text)!, value });

test('J8: what no rule changes stays as it was written, to the digit and the blank', () => {
  const text = '{ "big": 9007199254740993, "f": 1.0, "t" : "old" , "o":{"t":1e400,"z":-0} }';
  expect(rewrite(text, [at('t', 'new'), at('/o/t', 'x')], [])).toBe(
    '{ "big": 9007199254740993, "f": 1.0, "t" : "new" , "o":{"t":"x","z":-0} }',
  );
});

test.each([
  ['{}', '{"c":"x"}'],
  ['{ }', '{"c":"x"}'],
  ['{"a":"}"}', '{"a":"}","c":"x"}'],
  ['{"a":{} }', '{"a":{},"c":"x"}'],
])('a member is added at the end of %s', (text, wanted) => {
  expect(rewrite(text, [], [at('c', 'x')])).toBe(wanted);
});

test('added values and names are escaped', () => {
  const added = [{ field: memberField('/a"b'), value: '"\\\n' }, at('n', 1.5), at('b', true)];
  expect(rewrite('{}', [], added)).toBe('{"/a\\"b":"\\"\\\\\\n","n":1.5,"b":true}');
});

test('J14: __proto__ can be added and changed', () => {
  expect(rewrite('{"a":1}', [], [at('__proto__', 'x')])).toBe('{"a":1,"__proto__":"x"}');
  expect(rewrite('{"__proto__":1}', [at('__proto__', 'x')], [])).toBe('{"__proto__":"x"}');
});

test('ING-9: an edited record is the record with the edit, and nothing else', () => {
  fc.assert(
    fc.property(
      fc.dictionary(fc.string(), fc.jsonValue(), { minKeys: 1 }),
      fc.string(),
      fc.nat(),
      (object, value, n) => {
        const names = Object.keys(object);
        const name = names[n % names.length]!;
        const edit = { field: memberField(name), value: value.toWellFormed() };
        const text = JSON.stringify(object, null, n % 3);
        const wanted = Object.fromEntries([...Object.entries(JSON.parse(text) as object), [name, edit.value]]);
        expect(JSON.parse(rewrite(text, [edit], []))).toEqual(wanted);
      },
    ),
  );
});
