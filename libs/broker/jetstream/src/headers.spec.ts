import { headers } from 'nats';
import { escapeKey, keyOf, unescapeKey } from './headers.ts';

test.each(['0123abcdef', 'a b', ' a', 'a ', '%', '%41', 'a\r\nNats-Rollup: all', 'nul\0', 'schlüssel 🙂', '\u007f'])(
  'SEC-2: key %j is one line of printable characters, from which it is told again',
  (key) => {
    expect(escapeKey(key)).toMatch(/^[\x21-\x7e]+$/);
    expect(unescapeKey(escapeKey(key))).toBe(key);
  },
);

test('BRK-2: keys as we make them go as they are', () => {
  expect(escapeKey('9f86d081884c7d659a2feaa0c55ad015')).toBe('9f86d081884c7d659a2feaa0c55ad015');
});

test('BRK-2: a message that somebody else published has its id for a key, or none', () => {
  const foreign = headers();
  expect([keyOf(undefined), keyOf(foreign)]).toEqual([null, null]);
  foreign.set('Nats-Msg-Id', '100%');
  expect(keyOf(foreign)).toBe('100%');
});
