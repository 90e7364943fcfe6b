import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { anyText, refusal } from './arbitraries.ts';
import { escapeToken, idempotencyKey, parseStreamName, storedKey, streamName, unescapeToken } from './keys.ts';

const LONE = 'a\ud800';

describe('tokens', () => {
  test('SEC-2: letters, digits, _ and - stay; every other UTF-8 byte is escaped', () => {
    expect(escapeToken('Az09_-')).toBe('Az09_-');
    expect(escapeToken("a/b.c#%~!*'()\u0000é😀")).toBe('a%2Fb%2Ec%23%25%7E%21%2A%27%28%29%00%C3%A9%F0%9F%98%80');
    expect(escapeToken('')).toBe('');
  });

  test('SEC-2: any text comes back from its token, which is plain ASCII', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(escapeToken(text)).toMatch(/^[A-Za-z0-9_%-]*$/);
        expect(unescapeToken(escapeToken(text))).toBe(text);
      }),
    );
  });

  test('SEC-2: tokens of older writers are read, and what is no token is null', () => {
    expect(unescapeToken('evt%2D123')).toBe('evt-123');
    expect(unescapeToken('%c3%a9')).toBe('é');
    for (const token of ['%', '%2', '%zz', '%C3', '%FF', '%ED%A0%80', '%C0%80', 'a.b', 'a/b', 'é', 'a b']) {
      expect([token, unescapeToken(token)]).toEqual([token, null]);
    }
  });

  test('SEC-2: a lone surrogate is refused, so that no two ids share a key', () => {
    const reason = 'invalid: the text holds a lone surrogate, which has no UTF-8 form';
    for (const key of [
      escapeToken,
      (text: string) => storedKey('t', 'x', text),
      (text: string) => storedKey('t', 'x', text.repeat(2000)),
    ]) {
      expect(refusal(() => key(LONE))).toBe(reason);
    }
  });
});

describe('dedupe keys', () => {
  test.each([
    ['acme', 'clicks', 'evt-123', 'acme/clicks/evt-123', 'e3864f7ecc97d663946ecb747b9a8ffc'],
    ['0', 'clicks', 'e1', '0/clicks/e1', '5818e1b1957c8c770ae201937efadac7'],
    ['acme-co', 'db.t', 'a/b', 'acme-co/db%2Et/a%2Fb', '249770b390e265f667e9628460965f8d'],
    ['0', 't', '#%café', '0/t/%23%25caf%C3%A9', '597b569cb5ed72be8109f6c01d9ce947'],
    ['acme', 't', 'x'.repeat(1024), `acme/t/${'x'.repeat(1024)}`, '2018bcfa01aa9f4c605ec5761792a827'],
  ])('DDP-1: the key of %s, %s, %#', (tenant, table, id, key, short) => {
    expect(storedKey(tenant, table, id)).toBe(key);
    expect(idempotencyKey(tenant, table, id)).toBe(short);
  });

  test.each([
    ['x'.repeat(1025), 'acme/t/#c6d8e9905300876046729949cc95c238', 'f385a572c29101c82c73d9025c90658c'],
    ['é'.repeat(171), 'acme/t/#7465d647e02de38aeb3b6aecf24fbdf3', '0e1914af3662734c6a1134f1206e9a22'],
  ])('DDP-1: an id that is longer than 1024 when escaped is kept by its hash (%#)', (id, start, short) => {
    const key = storedKey('acme', 't', id);
    expect(key.slice(0, start.length)).toBe(start);
    expect(key).toBe(`acme/t/#${createHash('sha256').update(id).digest('hex')}`);
    expect(idempotencyKey('acme', 't', id)).toBe(short);
  });

  test('DDP-1: different tenant, table and id give different keys', () => {
    const part = fc.oneof(
      anyText,
      fc.string({ unit: fc.constantFrom('/', '#', '%', '2', 'F', '.', 'a'), maxLength: 4 }),
    );
    const triple = fc.tuple(part, part, part);
    fc.assert(
      fc.property(triple, triple, (a, b) => {
        const same = a.every((text, i) => text === b[i]);
        expect(storedKey(...a) === storedKey(...b)).toBe(same);
        expect(idempotencyKey(...a) === idempotencyKey(...b)).toBe(same);
      }),
    );
  });

  test('DDP-1: over every short text of awkward characters no two keys meet', () => {
    const texts = ['', ...'/#%.-a\u0000é'];
    const ids = texts.flatMap((a) => texts.map((b) => a + b));
    const unique = new Set(ids);
    const keys = new Set([...unique].flatMap((table) => [...unique].map((id) => storedKey('t', table, id))));
    expect(keys.size).toBe(unique.size ** 2);
    for (const key of keys) expect(key).toMatch(/^t\/[A-Za-z0-9_%-]*\/[A-Za-z0-9_%-]*$/);
  });
});

describe('stream names', () => {
  test('SEC-2: any tenant and table come back from the stream', () => {
    expect(streamName('acme', 'db.t')).toBe('acme.db%2Et');
    fc.assert(
      fc.property(anyText, anyText, (tenant, table) => {
        expect(parseStreamName(streamName(tenant, table))).toEqual({ tenant, table });
      }),
    );
  });

  test.each(['', 'acme', 'a.b.c', 'a.b.', 'a.%2D', 'a.%c3%a9', 'a./', 'a.%', 'nxsflow/x.y'])(
    'SEC-2: %j is the stream of no table',
    (stream) => {
      expect(parseStreamName(stream)).toBeNull();
    },
  );
});
