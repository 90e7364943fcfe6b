// npm run tables: makes the DynamoDB tables of the services on a stand-in. Tables on AWS are made by the deployment.
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { underNode24 } from './node24.mjs';
import { Problem, say } from './terminal.mjs';

const USAGE = `npm run tables -- --endpoint URL     make the DynamoDB tables of the services on a stand-in

  --endpoint URL       such as http://127.0.0.1:8000; default DYNAMODB_ENDPOINT
  --help               this text

A table that is there already is left as it is. Names come from the settings of the services, such as RELAY_DYNAMODB_TABLE.
Tables on AWS are made by the deployment: docs/operating/dynamodb.md`;

/** What makes the tables of each service that keeps something in DynamoDB; answers their names. */
const makers = [
  async (client, sleeper) => {
    const { createTables } = await import('../../libs/op-store/dynamodb/src/tables.ts');
    const opsTable = process.env.RELAY_DYNAMODB_TABLE || 'tidemark_ops';
    const registryTable = process.env.RELAY_DYNAMODB_REGISTRY_TABLE || 'tidemark_registry';
    await createTables(client, { opsTable, registryTable }, sleeper);
    return [opsTable, registryTable];
  },
  async (client, sleeper) => {
    const { createDedupeTable } = await import('../../libs/dedupe/dynamodb/src/table.ts');
    const table = process.env.INGEST_DEDUPE_TABLE || 'tidemark_dedupe';
    await createDedupeTable(client, table, sleeper);
    return [table];
  },
  async (client, sleeper) => {
    const { createLeasesTable, enableStream } = await import('../../libs/feed/dynamodb-streams/src/tables.ts');
    const { createViewsTable } = await import('../../libs/views/dynamodb/src/tables.ts');
    const opsTable = process.env.FOLD_OPS_TABLE || process.env.RELAY_DYNAMODB_TABLE || 'tidemark_ops';
    const leasesTable = process.env.FOLD_LEASES_TABLE || 'tidemark_leases';
    const viewsTable = process.env.FOLD_VIEWS_TABLE || 'tidemark_views';
    await enableStream(client, opsTable, sleeper);
    await createLeasesTable(client, leasesTable, sleeper);
    await createViewsTable(client, viewsTable, sleeper);
    return [`${opsTable}: its stream`, leasesTable, viewsTable];
  },
];

function parse(args) {
  try {
    return parseArgs({ args, options: { endpoint: { type: 'string' }, help: { type: 'boolean' } } }).values;
  } catch (error) {
    throw new Problem(error.message.replaceAll('\n', ' '));
  }
}

function endpointOf({ endpoint = process.env.DYNAMODB_ENDPOINT }) {
  if (!endpoint) throw new Problem('--endpoint is missing, and DYNAMODB_ENDPOINT is not set');
  if (!/^https?:\/\//.test(endpoint) || !URL.canParse(endpoint))
    throw new Problem(`--endpoint: must be a URL such as http://127.0.0.1:8000, not ${endpoint}`);
  return endpoint;
}

await underNode24(fileURLToPath(import.meta.url), async (args) => {
  const values = parse(args);
  if (values.help) {
    say(USAGE);
    return 0;
  }
  const endpoint = endpointOf(values);
  const { DynamoDBClient } = await import('@aws-sdk/client-dynamodb');
  const { AWS_REGION, AWS_ACCESS_KEY_ID, AWS_PROFILE } = process.env;
  const client = new DynamoDBClient({
    endpoint,
    region: AWS_REGION || 'us-east-1',
    // A stand-in wants a signature and takes any.
    ...(AWS_ACCESS_KEY_ID || AWS_PROFILE ? {} : { credentials: { accessKeyId: 'none', secretAccessKey: 'none' } }),
  });
  try {
    for (const make of makers) for (const name of await make(client, { sleep })) say(name);
  } catch (error) {
    throw new Problem(`${endpoint}: ${error.name}: ${error.message || error.code}`);
  }
  client.destroy();
  return 0;
});
