/** `none`: the request has no credentials. `unreadable`: it has, in a form that is not offered. */
export type Credentials =
  { readonly kind: 'token'; readonly token: string } | { readonly kind: 'none' } | { readonly kind: 'unreadable' };

/**
 * The token of an Authorization header. Of Basic, which clients make out of a relay URL's userinfo, the password is the token, whoever the
 * user is; without a password the user is.
 */
export function readCredentials(header: string | undefined): Credentials {
  if (header === undefined) return { kind: 'none' };
  const [, scheme = '', rest = ''] = /^(\S+) +(\S+) *$/.exec(header) ?? [];
  const token = scheme.toLowerCase() === 'bearer' ? rest : scheme.toLowerCase() === 'basic' ? ofBasic(rest) : '';
  return token === '' ? { kind: 'unreadable' } : { kind: 'token', token };
}

function ofBasic(encoded: string): string {
  const [, user = '', password = ''] = /^([^:]*):(.*)$/s.exec(Buffer.from(encoded, 'base64').toString('utf8')) ?? [];
  return password === '' ? user : password;
}
