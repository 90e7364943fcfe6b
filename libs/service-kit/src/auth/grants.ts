import { z } from 'zod';
import { ACTIONS, type Grant } from './access.ts';

const tenant = z.string().regex(/^[^*]+$/, 'a tenant is named in full, without *');
const stream = z.string().regex(/^[^*]*\*?$/, 'a * may stand only at the end of a stream');

const everyOr = (name: typeof tenant) =>
  z
    .union([z.literal('*'), z.array(name.or(z.literal('*'))).max(1000)], '"*" or a list of names')
    .transform((names) => (names.includes('*') ? '*' : names));

/** A grant as it is written. Of tenants and streams one may be left out: it does not limit the grant then. */
const grant = z
  .strictObject({
    actions: z.array(z.enum(ACTIONS)).min(1),
    tenants: everyOr(tenant).optional(),
    streams: everyOr(stream).optional(),
  })
  .refine(({ tenants, streams }) => tenants !== undefined || streams !== undefined, 'needs tenants or streams')
  .transform(({ actions, tenants = '*', streams = '*' }): Grant => ({ actions, tenants, streams }) as Grant);

/** What a tokens file and a JWT's claim hold. */
export const grantList = z.array(grant).max(1000);

/** The roles of a caller. */
export const roleList = z.array(z.string().regex(/^[A-Za-z_][\w.-]{0,127}$/, 'a role is named like a word')).max(100);

/** A caller as it stands in logs: without line breaks and other control characters. */
export const callerName = z
  .string()
  .regex(/^[^\p{Cc}]{1,256}$/u, 'must be 1 to 256 characters without control characters');

/** Each problem of a document with the path to it: `tokens[0].grants[1].actions: ...`. No value is quoted: it may be a secret. */
export function problemsOf(error: z.ZodError): string[] {
  return error.issues.map((issue) => {
    const where = pathOf(issue.path);
    if (issue.code !== 'unrecognized_keys') return `${where}: ${issue.message}`;
    return issue.keys.map((key) => `${pathOf([...issue.path, key])}: unknown member`).join('; ');
  });
}

function pathOf(path: readonly PropertyKey[]): string {
  const text = path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${String(step)}`)).join('');
  return text.replace(/^\./, '') || 'the document';
}
