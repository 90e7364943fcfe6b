// npm start [-- --demo [FILE.ndjson]]: installs what is missing, builds, and runs the three services on their embedded defaults.
import { fileURLToPath } from 'node:url';
import { underNode24 } from './node24.mjs';
import { Problem, complain, say } from './terminal.mjs';

const USAGE = `npm start                            run relay, ingest and fold-worker until Ctrl-C
npm start -- --demo [FILE.ndjson]    post the file (or a generated sample), wait until it is folded, print counts, stop
npm start -- --help                  this text

Data goes to ./data (TIDEMARK_DATA moves it), logs to its folder logs. Settings: docs/operating/configuration.md`;

function parseArguments(args) {
  if (args.length === 0) return { demo: null, help: false };
  if (args.length === 1 && args[0] === '--help') return { demo: null, help: true };
  if (args[0] === '--demo' && args.length <= 2 && !args[1]?.startsWith('-'))
    return { demo: { file: args[1] ?? null }, help: false };
  throw new Problem(`unknown arguments: ${args.join(' ')}\n${USAGE}`);
}

/** Judged before anything is installed or started. */
function demoOf(args) {
  try {
    return parseArguments(args);
  } catch (error) {
    complain(error.message);
    process.exit(1);
  }
}

const { demo, help } = demoOf(process.argv.slice(2));
if (help) {
  say(USAGE);
} else {
  await underNode24(fileURLToPath(import.meta.url), async () => {
    // Imported late: it needs what the installation brought.
    const { run } = await import('./run.mjs');
    return run(demo);
  });
}
