// npm run token -- --name NAME [...]: makes a token and the entry of TIDEMARK_TOKENS_FILE that knows it. Writes no file.
import { createHash, randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';
import { complain, say } from './terminal.mjs';

const USAGE = `npm run token -- --name NAME [options]     make a token, and its entry for the file that TIDEMARK_TOKENS_FILE names

  --name NAME          who it is for; stands in logs
  --actions LIST       read, write, admin, with commas between; default read,write
  --tenants LIST       tenants that it is good for, or *
  --streams LIST       streams that it is good for; one may end in * and stands for all that begin so; or *
  --expires TIME       such as 2027-01-31T00:00:00Z; default never
  --help               this text

At least one of --tenants and --streams must be given; a right holds where both fit.`;

const ACTIONS = ['read', 'write', 'admin'];
const options = Object.fromEntries(
  ['name', 'actions', 'tenants', 'streams', 'expires'].map((name) => [name, { type: 'string' }]),
);

const listOf = (text) => (text === '*' ? '*' : text.split(',').map((one) => one.trim()));

/** The token and its entry; throws an Error with what is wrong with the arguments. */
function make({ name, actions = 'read,write', tenants, streams, expires }) {
  if (!name) throw new Error('--name is missing');
  if (tenants === undefined && streams === undefined) throw new Error('--tenants or --streams must be given');
  const asked = actions.split(',').map((one) => one.trim());
  const unknown = asked.find((action) => !ACTIONS.includes(action));
  if (unknown !== undefined) throw new Error(`--actions: ${unknown} is none of ${ACTIONS.join(', ')}`);
  if (expires !== undefined && !/^\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:\d\d)$/.test(expires))
    throw new Error(`--expires: ${expires} is no time such as 2027-01-31T00:00:00Z`);
  const token = `tdm_${randomBytes(32).toString('base64url')}`;
  const grant = {
    actions: asked,
    ...(tenants !== undefined && { tenants: listOf(tenants) }),
    ...(streams !== undefined && { streams: listOf(streams) }),
  };
  const hash = `sha256:${createHash('sha256').update(token).digest('hex')}`;
  return { token, entry: { name, hash, ...(expires !== undefined && { expires }), grants: [grant] } };
}

try {
  const { values } = parseArgs({ options: { ...options, help: { type: 'boolean' } } });
  if (values.help) {
    say(USAGE);
  } else {
    const { token, entry } = make(values);
    say(`token, shown this once: ${token}\n`);
    say(`its entry, for the list "tokens" of the file:\n${JSON.stringify(entry, null, 2)}`);
  }
} catch (error) {
  complain(`${error.message}\n\n${USAGE}`);
  process.exit(1);
}
