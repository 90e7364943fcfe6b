// node tools/launcher/serve.mjs apps/relay: rebuilds on every change and restarts the app after each good build.
// A build that fails is shown and leaves the running app alone.
import { spawn } from 'node:child_process';
import path from 'node:path';
import { watch } from 'rolldown';
import { input, output } from './bundle.mjs';
import { NODE_FLAGS, outDir } from './paths.mjs';

const project = process.argv[2];
const entry = path.join(outDir(project), 'main.js');
let app;
let stopping = false;
let turn = Promise.resolve();

async function stopApp() {
  const running = app;
  app = undefined;
  if (running === undefined || running.exitCode !== null || running.signalCode !== null) return;
  await new Promise((resolve) => {
    const hard = setTimeout(() => running.kill('SIGKILL'), 5000);
    running.once('exit', () => {
      clearTimeout(hard);
      resolve();
    });
    running.kill('SIGTERM');
  });
}

async function restartApp(buildMs) {
  await stopApp();
  if (stopping) return;
  console.log(`[serve] built in ${buildMs} ms, starting ${project}`);
  const started = spawn(process.execPath, [...NODE_FLAGS, entry], { stdio: 'inherit' });
  started.once('exit', (code) => {
    if (app === started) console.error(`[serve] ${project} ended (exit code ${code}); waiting for a change`);
  });
  app = started;
}

const watcher = watch({ ...input(project), output: output(project) });
watcher.on('event', async (event) => {
  if (event.code === 'BUNDLE_END') {
    const { duration } = event;
    await event.result?.close();
    turn = turn.then(() => restartApp(duration));
  }
  if (event.code === 'ERROR') {
    console.error('[serve]', event.error?.message ?? event.error);
    await event.result?.close();
  }
});

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.on(signal, () => {
    stopping = true;
    turn = turn.then(async () => {
      await stopApp();
      await watcher.close();
      process.exit(0);
    });
  });
}
