import { readCredentials } from './credentials.ts';

const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;
const token = (token: string) => ({ kind: 'token', token });

test.each([
  ['Bearer abc', 'abc'],
  ['bearer   abc ', 'abc'],
  [basic('anyone:secret'), 'secret'],
  [basic('secret:'), 'secret'],
  [basic('a:b:c'), 'b:c'],
  [basic(':s'), 's'],
])('SEC-1: the token of %s is %s', (header, expected) => {
  expect(readCredentials(header)).toEqual(token(expected));
});

test('SEC-1: no header is no credentials, and anything else is none that can be read', () => {
  expect(readCredentials(undefined)).toEqual({ kind: 'none' });
  for (const header of ['', 'Bearer', 'Bearer ', 'abc', 'Digest x', 'Basic !!!', basic('x'), basic(':'), 'Bearer a b'])
    expect([header, readCredentials(header)]).toEqual([header, { kind: 'unreadable' }]);
});
