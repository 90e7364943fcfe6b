// npm run token -- --name NAME [...]: makes a token and the entry of TIDEMARK_TOKENS_FILE that knows it. Writes no file.
import { createHash, randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { underNode24 } from './node24.mjs';
import { Problem, say } from './terminal.mjs';

const USAGE = `npm run token -- --name NAME [options]     make a token, and its entry for the file that TIDEMARK_TOKENS_FILE names

  --name NAME          who it is for; stands in logs
  --actions LIST       read, write, admin, with commas between; default read,write
  --tenants LIST       tenants that it is good for, or *
  --streams LIST       streams that it is good for; one may end in * and stands for all that begin so; or *
  --roles LIST         roles that tables of ingest give rights to
  --claims JSON        what checks of such tables compare with, such as {"org":"acme"}
  --expires TIME       such as 2027-01-31T00:00:00Z; default never
  --help               this text

At least one of --tenants and --streams must be given; a right holds where both fit.`;

const options = Object.fromEntries(
  ['name', 'actions', 'tenants', 'streams', 'roles', 'claims', 'expires'].map((name) => [name, { type: 'string' }]),
);

/** The token and its entry; Problem with what is wrong with the arguments. */
async function make({ name, actions = 'read,write', tenants, streams, roles, claims, expires }) {
  if (name === undefined) throw new Problem('--name is missing');
  if (tenants === undefined && streams === undefined) throw new Problem('--tenants or --streams must be given');
  const token = `tdm_${randomBytes(32).toString('base64url')}`;
  const grant = {
    actions: listOf('actions', actions),
    ...(tenants !== undefined && { tenants: everyOr('tenants', tenants) }),
    ...(streams !== undefined && { streams: everyOr('streams', streams) }),
  };
  const hash = `sha256:${createHash('sha256').update(token).digest('hex')}`;
  const entry = {
    ...{ name, hash, ...(expires !== undefined && { expires }), grants: [grant] },
    ...(roles !== undefined && { roles: listOf('roles', roles) }),
    ...(claims !== undefined && { claims: claimsOf(claims) }),
  };
  await judge(entry);
  return { token, entry };
}

function listOf(option, text) {
  const names = text.split(',').map((one) => one.trim());
  if (names.includes('')) throw new Problem(`--${option}: a name in the list is empty`);
  return names;
}

function claimsOf(text) {
  try {
    return JSON.parse(text);
  } catch {
    throw new Problem('--claims: must be a JSON object such as {"org":"acme"}');
  }
}

const everyOr = (option, text) => (text === '*' ? '*' : listOf(option, text));

/** By the rules of the services themselves, so that no entry comes out that keeps them from starting. */
async function judge(entry) {
  const { readTokens } = await import('../../libs/service-kit/src/auth/tokens-file.ts');
  try {
    readTokens(JSON.stringify({ tokens: [entry] }));
  } catch (error) {
    throw new Problem(error.message.replace(/tokens\[0\]\.(?:grants\[0\]\.)?(\w+)(?:\[\d+\])?/g, '--$1'));
  }
}

/** What parseArgs makes of the arguments; its own refusals are Problems. */
function parse(args) {
  try {
    return parseArgs({ args, options: { ...options, help: { type: 'boolean' } } }).values;
  } catch (error) {
    throw new Problem(error.message.replaceAll('\n', ' '));
  }
}

await underNode24(fileURLToPath(import.meta.url), async (args) => {
  const { help, ...values } = parse(args);
  if (help) {
    say(USAGE);
    return 0;
  }
  const { token, entry } = await make(values);
  say(`token, shown this once: ${token}\n`);
  say(`its entry, for the list "tokens" of the file:\n${JSON.stringify(entry, null, 2)}`);
  return 0;
});
