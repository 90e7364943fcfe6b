import { requestTarget } from './request-target.ts';

const targetOf = (url: string) => requestTarget({ url } as Parameters<typeof requestTarget>[0]);

// kills: request-target.ts: origin.slice(path.length) => ''
test.each([
  ['/streams/s/ops?since=1', '/streams/s/ops?since=1'],
  ['http://host:1/v1/streams?limit=0', '/v1/streams?limit=0'],
  ['HTTPS://user@[::1]/a', '/a'],
  ['http://host', '/'],
  ['http://host?a=b', '/?a=b'],
  ['*', '*'],
  ['/%73treams/%7e%2D%5f%2E%39/ops?a=%61#%61', '/streams/~-_.9/ops?a=%61#%61'],
])('RLY-1: %s is read as %s', (url, target) => {
  expect(targetOf(url)).toBe(target);
});

test.each([
  '/a%2Fb',
  '/%252e',
  '/%2531',
  '/%00',
  '/%C3%A9',
  '/%',
  '/%2',
  '/%zz',
  '/%ff',
  '/a%3Fb%23c%3B%40%60%5B',
  '/é',
  '',
])('RLY-1: the escapes of %s stay as they are', (url) => {
  expect(targetOf(url)).toBe(url === '' ? '/' : url);
});
