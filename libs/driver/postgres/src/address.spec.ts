import { isLoopback, parseAddress } from './address.ts';

describe('the URL', () => {
  it('OPS-2: what cannot be used is refused in one line without the password', () => {
    for (const [text, why] of [
      ['hello', /no URL/],
      ['mysql://u:secret@h/d', /postgres:\/\//],
      ['postgres://u:secret@h/d?sslmode=often', /sslmode/],
      ['postgres://u:secret@h/d?sslrootcert=/x', /sslrootcert/],
    ] as const) {
      expect(() => parseAddress(text)).toThrow(why);
      expect(() => parseAddress(text)).not.toThrow(/secret/);
    }
  });

  it('OPS-2: the database is named without user and password', () => {
    expect(parseAddress('postgres://u:secret@db.example:6432/d?sslmode=require')).toMatchObject({
      host: 'db.example',
      mode: 'require',
      where: 'Postgres db.example:6432/d',
    });
    expect(parseAddress('postgres:///d?host=/run/pg&sslmode=require')).toMatchObject({
      host: '/run/pg',
      mode: 'disable',
    });
  });

  it('SEC-1: this machine is told from others', () => {
    for (const host of ['localhost', '127.0.0.1', '127.8.0.1', '::1', '[::1]', '/run/pg'])
      expect(isLoopback(host)).toBe(true);
    for (const host of ['db.example', '128.0.0.1', '127.example.org']) expect(isLoopback(host)).toBe(false);
  });
});
