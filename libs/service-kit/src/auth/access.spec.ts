import { type Grant, type Need, SOME_STREAM, describeNeed, mayDo } from './access.ts';

const all: Grant = { actions: ['read', 'write', 'admin'], tenants: '*', streams: '*' };
const need = (action: Need['action'], tenant: string | null, stream: string | null): Need => ({
  action,
  tenant,
  stream,
});
const reads = (grant: Partial<Grant>, tenant: string | null, stream: string | null) =>
  mayDo([{ ...all, actions: ['read'], ...grant }], need('read', tenant, stream));

// kills: access.ts: actions.includes(need.action) && => true &&
test('SEC-1: no action includes another one', () => {
  for (const action of ['read', 'write', 'admin'] as const) {
    const granted = (['read', 'write', 'admin'] as const).filter((asked) =>
      mayDo([{ ...all, actions: [action] }], need(asked, 'a', 'a.b')),
    );
    expect(granted).toEqual([action]);
  }
});

// kills: access.ts: && covers(tenants, need.tenant, same) => && true
test('SEC-1: a tenant is matched whole; what belongs to none, or to all, needs the right on every tenant', () => {
  expect(reads({ tenants: ['acme'] }, 'acme', 'acme.events')).toBe(true);
  for (const other of ['acm', 'acme2', 'ACME', '', null])
    expect([other, reads({ tenants: ['acme'] }, other, 'x')]).toEqual([other, false]);
  expect(reads({}, null, 'x')).toBe(true);
});

// kills: access.ts: stream.startsWith(pattern.slice(0, -1)) => true
test('SEC-1: a stream is matched whole, or by its beginning before a *', () => {
  expect(reads({ streams: ['s'] }, null, 's')).toBe(true);
  expect(reads({ streams: ['s'] }, null, 'st')).toBe(false);
  expect(reads({ streams: ['acme.*'] }, 'acme', 'acme.events')).toBe(true);
  expect(reads({ streams: ['acme.*'] }, 'acme', 'acmeX')).toBe(false);
  expect(reads({ streams: ['s*'] }, null, 's')).toBe(true);
});

// kills: access.ts: wanted !== null && => wanted === null ||
test('SEC-1: only a right on every stream covers all streams', () => {
  expect(reads({ streams: ['a', 'b*'] }, null, null)).toBe(false);
  expect(reads({ streams: '*' }, null, null)).toBe(true);
});

test('SEC-1: a need is covered by one grant, never by halves of two', () => {
  const grants: Grant[] = [
    { actions: ['read'], tenants: ['a'], streams: '*' },
    { actions: ['write'], tenants: ['b'], streams: '*' },
  ];
  expect(mayDo(grants, need('write', 'a', 'a.x'))).toBe(false);
  expect(mayDo(grants, need('read', 'b', 'b.x'))).toBe(false);
  expect(mayDo([], need('read', 'a', 'a.x'))).toBe(false);
});

test('a need is told in words, with what came from outside in quotes', () => {
  expect(describeNeed(need('read', null, 's\n"'))).toBe('read on stream "s\\n\\""');
  expect(describeNeed(need('admin', null, null))).toBe('admin on all streams');
  expect(describeNeed(need('write', 'a', 'a.e'))).toBe('write on stream "a.e" of tenant "a"');
});

// kills: access.ts: if (stream === SOME_STREAM) return true; => if (stream === SOME_STREAM) return false;
test('SEC-1: where any stream is enough, a right on one of them covers, of the right action and tenant', () => {
  const some: Need = { action: 'read', tenant: 'acme', stream: SOME_STREAM };
  const grant: Grant = { actions: ['read'], tenants: ['acme'], streams: ['acme.events'] };
  expect(mayDo([grant], some)).toBe(true);
  expect(mayDo([{ ...grant, streams: '*' }], some)).toBe(true);
  expect(mayDo([{ ...grant, streams: [] }], some)).toBe(false);
  expect(mayDo([{ ...grant, tenants: ['other'] }], some)).toBe(false);
  expect(mayDo([{ ...grant, actions: ['write'] }], some)).toBe(false);
  expect(describeNeed(some)).toBe('read on any stream of tenant "acme"');
});
