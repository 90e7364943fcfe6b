import { fstatSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { endpointVariables, type ServiceName, serviceNames, startServices } from './services.ts';

const help = `Starts the servers that tests need, prints their endpoints, and stops them on SIGINT, SIGTERM or the end of stdin.

usage: node tools/services/src/main.ts [--folder FOLDER] [${serviceNames.join('] [')}]

Without a name all are started. An endpoint that the environment names is taken as it is:
${serviceNames.map((name) => `  ${endpointVariables[name]}`).join('\n')}
TIDEMARK_CACHE names the folder for fetched programs (~/.cache/tidemark). Where CI is set a missing server is a failure.
`;

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { help: { type: 'boolean', short: 'h' }, folder: { type: 'string' } },
  });
  const unknown = positionals.filter((name) => !(serviceNames as readonly string[]).includes(name));
  if (values.help) return void process.stdout.write(help);
  if (unknown.length > 0) {
    process.stderr.write(`unknown: ${unknown.join(' ')}\n\n${help}`);
    process.exitCode = 2;
    return;
  }
  const asked = positionals.length > 0 ? (positionals as ServiceName[]) : serviceNames;
  // Listened for before anything starts: who reads the endpoints may answer with a signal at once.
  const told = toldToEnd();
  const services = await startServices({
    ...Object.fromEntries(asked.map((name) => [name, true])),
    ...(values.folder !== undefined && { folder: values.folder }),
  });
  const lines = asked.flatMap((name) => {
    const service = services[name];
    if (service.kind !== 'absent') return [`${endpointVariables[name]}=${service.endpoint}\n`];
    process.stderr.write(`${name} is absent: ${service.reason}\n`);
    return [];
  });
  process.stdout.write(lines.join(''));
  await told;
  await services.stop();
}

/** A signal, or the end of a pipe or terminal on stdin. A background job's /dev/null ends at once and says nothing. */
function toldToEnd(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  process.once('SIGINT', () => resolve()).once('SIGTERM', () => resolve());
  const stdin = fstatSync(0);
  if (stdin.isFIFO() || stdin.isSocket() || process.stdin.isTTY) process.stdin.once('end', () => resolve()).resume();
  else setInterval(() => {}, 1 << 30);
  return promise;
}

await main();
process.exit();
