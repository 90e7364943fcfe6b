import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';

const script = path.resolve(import.meta.dirname, '../../../launcher/tables.mjs');

/** Makes the tables of every service, as `npm run tables` does; answers the settings that lead to them. */
export async function makeTables(endpoint: string): Promise<Record<string, string>> {
  await promisify(execFile)(process.execPath, [script, '--endpoint', endpoint]);
  return { DYNAMODB_ENDPOINT: endpoint };
}
