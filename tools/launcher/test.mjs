// npm test: everything that CI checks. npm run test:long: the tests that take longer (*.long.spec.ts).
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { compareCoverage } from './coverage.mjs';
import { underNode24 } from './node24.mjs';
import { root } from './paths.mjs';
import { say } from './terminal.mjs';

const USAGE = `npm test                 build, types, format, lint, every test but the long ones, coverage
npm run test:long        the long tests: kill loops, long seeds
npm test -- PATTERN...   only the tests whose path matches`;

/** The checks that are no tests. Each runs whatever became of the others. */
async function runChecks() {
  const failed = [];
  for (const [name, command, ...args] of [
    ['build', 'nx', 'run-many', '-t', 'build', '--output-style=static'],
    ['types', 'tsc', '-p', '.'],
    ['format', 'prettier', '--check', '--log-level=warn', '.'],
    ['lint', 'eslint', '--max-warnings=0', '.'],
  ]) {
    const startedMs = Date.now();
    const { code, output } = await runTool(command, args);
    // Without Nx's project graph the boundary rule says so and passes everything.
    const skipped = name === 'lint' && output.includes('No cached ProjectGraph');
    const passed = code === 0 && !skipped;
    say(`${passed ? 'ok  ' : 'FAIL'} ${name} (${((Date.now() - startedMs) / 1000).toFixed(1)} s)`);
    if (passed) continue;
    say(output);
    failed.push(skipped ? 'lint: the module boundaries were not checked' : name);
  }
  return failed;
}

function runTool(command, args) {
  const child = spawn(path.join(root, 'node_modules', '.bin', command), args, {
    cwd: root,
    env: { ...process.env, ...NX },
  });
  let output = '';
  child.stdout.on('data', (chunk) => (output += chunk));
  child.stderr.on('data', (chunk) => (output += chunk));
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, output })));
}

// Node 24 first, so that every tool and every nested node is the same one.
const NX = { NX_DAEMON: 'false', PATH: `${path.dirname(process.execPath)}${path.delimiter}${process.env.PATH}` };

async function runJest({ long, patterns, coverage }) {
  const scratch = mkdtempSync(path.join(os.tmpdir(), 'tidemark-test-'));
  const resultFile = path.join(scratch, 'result.json');
  const flags = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning', 'node_modules/jest/bin/jest.js'];
  const options = ['--json', `--outputFile=${resultFile}`, ...(coverage ? ['--coverage'] : []), ...patterns];
  const env = { ...process.env, ...NX, TIDEMARK_TEST_LONG: long ? '1' : '0' };
  const child = spawn(process.execPath, [...flags, ...options], {
    cwd: root,
    env,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const code = await new Promise((resolve) => child.once('close', resolve));
  try {
    const result = JSON.parse(readFileSync(resultFile, 'utf8'));
    for (const name of skippedTests(result)) say(`skipped: ${name}`);
    // A file that cannot even be loaded counts as one failed test.
    const failed = result.numFailedTests + result.numRuntimeErrorTestSuites;
    return {
      passed: result.numPassedTests,
      failed: code === 0 ? failed : Math.max(1, failed),
      skipped: result.numPendingTests,
    };
  } catch (error) {
    say(`Jest gave no result (exit code ${code}): ${error.message}`);
    return { passed: 0, failed: 1, skipped: 0 };
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

function skippedTests(result) {
  const tests = result.testResults.flatMap(({ assertionResults }) => assertionResults);
  return tests.filter(({ status }) => status === 'pending').map(({ fullName }) => fullName);
}

/** The line that CI reads stands last, alone. */
function close({ passed, failed, skipped }, problems) {
  for (const problem of problems) say(`FAIL ${problem}`);
  const failures = failed + problems.length;
  say(`${passed} passed, ${failures} failed, ${skipped} skipped`);
  return failures === 0 ? 0 : 1;
}

await underNode24(fileURLToPath(import.meta.url), async (args) => {
  if (args.includes('--help')) {
    say(USAGE);
    return 0;
  }
  const long = args.includes('--long');
  const patterns = args.filter((arg) => arg !== '--long');
  const whole = !long && patterns.length === 0;
  const failedChecks = whole ? await runChecks() : [];
  const tests = await runJest({ long, patterns, coverage: whole });
  const lowered = whole && tests.failed === 0 ? compareCoverage() : [];
  return close(tests, [...failedChecks, ...lowered]);
});
