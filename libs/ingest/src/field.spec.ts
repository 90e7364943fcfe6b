import { readJson } from '@tidemark/libs-wire';
import { findIn, memberField, parseField } from './field.ts';

const found = (text: string, field: string) => findIn(readJson(text), parseField(field)!);

test('ING-9: a plain name is a member, a name with a slash in front a JSON pointer', () => {
  expect(parseField('event_id')).toEqual({ text: 'event_id', path: ['event_id'] });
  expect(parseField('a/b')?.path).toEqual(['a/b']);
  expect(parseField('/a~1b/~0c/')?.path).toEqual(['a/b', '~c', '']);
  expect(memberField('/a').path).toEqual(['/a']);
});

test.each(['', '/a~', '/a~2b', '\ud800'])('ING-9: %j is no field', (text) => {
  expect(parseField(text)).toBeNull();
});

test('ING-9: a field is found in objects and arrays', () => {
  const text = '{"a":{"b":[{"c":"x"}],"":"empty"},"__proto__":{"p":1}}';
  expect(found(text, '/a/b/0/c')).toEqual({ kind: 'value', value: 'x' });
  expect(found(text, '/a/')).toEqual({ kind: 'value', value: 'empty' });
  for (const absent of [
    'b',
    '/a/b/1/c',
    '/a/b/00/c',
    '/a/b/-/c',
    '/a/b/length',
    '/a/x/y',
    '/__proto__/q',
    'constructor',
  ])
    expect(found(text, absent)).toEqual({ kind: 'absent' });
});

test('ING-7, J10: a member given twice is found twice, wherever it stands on the way', () => {
  expect(found('{"a":1,"a":1}', 'a')).toEqual({ kind: 'repeated' });
  expect(found('{"a":{"b":1,"b":2}}', '/a/b')).toEqual({ kind: 'repeated' });
  expect(found('{"a":{"b":1},"a":{"b":1}}', '/a/b')).toEqual({ kind: 'repeated' });
  expect(found('{"x":1,"x":2,"a":1}', 'a')).toMatchObject({ kind: 'value' });
});
