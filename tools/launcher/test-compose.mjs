// npm run test:compose: the three images on their real parts, with replicas killed under load.
import { spawn } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { openDemo, playDemo } from './demo.mjs';
import { underNode24 } from './node24.mjs';
import { Problem, complain, say } from './terminal.mjs';

const tables = path.join(import.meta.dirname, 'tables.mjs');

function parse(args) {
  try {
    const options = { events: { type: 'string' }, minutes: { type: 'string' }, help: { type: 'boolean' } };
    return parseArgs({ args, options }).values;
  } catch (error) {
    throw new Problem(error.message.replaceAll('\n', ' '));
  }
}

/** As an operator does it: npm run tables. */
function makeTables(endpoint) {
  const child = spawn(process.execPath, [tables, '--endpoint', endpoint], { stdio: ['ignore', 'ignore', 'inherit'] });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => (code === 0 ? resolve() : reject(new Problem('the tables could not be made'))));
  });
}

/** A second wish to stop ends us at once; what was started is taken down in any case. */
function stopSignal() {
  const stop = new AbortController();
  const ask = () => {
    if (!stop.signal.aborted) say('stopping');
    stop.abort();
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'disconnect']) process.on(signal, ask);
  return stop.signal;
}

await underNode24(fileURLToPath(import.meta.url), async (args) => {
  const { readArguments, runComposeTest, usage } = await import('../compose-test/src/index.ts');
  const parsed = readArguments(parse(args));
  if (typeof parsed === 'string') throw new Problem(parsed);
  if (parsed.help) {
    say(usage);
    return 0;
  }
  const demo = async (urls) => playDemo(await openDemo(null), urls);
  return runComposeTest(parsed, { say, complain, makeTables, playDemo: demo, stop: stopSignal() });
});
