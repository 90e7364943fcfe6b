import { spawn } from 'node:child_process';
import { accessSync, constants, createWriteStream, mkdirSync, statSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { NODE_FLAGS, outDir, root } from './paths.mjs';
import { Problem, complain } from './terminal.mjs';

const READY_MS_MAX = 60_000;
const STOP_MS_MAX = 30_000;
/** Compiled code of the packages, so that a start after the first is quicker. */
const compileCache = path.join(root, 'node_modules', '.cache', 'tidemark');

/** Variables that only tests know: a service refuses a TIDEMARK_ name that it does not know. */
const TESTS_ALONE = ['TIDEMARK_SHARED_DATA', 'TIDEMARK_REQUIRE_DATA', 'TIDEMARK_CACHE', 'TIDEMARK_SEED'];
const ownSettings = Object.fromEntries(Object.entries(process.env).filter(([name]) => !TESTS_ALONE.includes(name)));

/** The three services, their address setting and default. */
export const services = [
  { name: 'relay', setting: 'RELAY_ADDR', standard: '127.0.0.1:8787' },
  { name: 'ingest', setting: 'INGEST_ADDR', standard: '127.0.0.1:8788' },
  { name: 'fold-worker', setting: 'FOLD_ADDR', standard: '127.0.0.1:8789' },
];

/** Where a service answers, as a URL that this machine can use. */
export function urlOf({ setting, standard }) {
  const address = process.env[setting] || standard;
  return `http://${address.replace(/^(0\.0\.0\.0|\[::\]):/, '127.0.0.1:')}`;
}

/** Settings that a service alone may have, and that three of them under one launcher cannot; each is told in a line. */
export function judgeSettings({ demo }) {
  const { TIDEMARK_AUTH: auth, TIDEMARK_METRICS_ADDR: metrics } = process.env;
  const problems = services
    .filter(({ setting }) => /:0+$/.test(process.env[setting] ?? ''))
    .map(({ setting }) => `${setting}: npm start needs a port that it knows, not 0`);
  if (metrics && !/:0+$/.test(metrics))
    problems.push('TIDEMARK_METRICS_ADDR: the three services cannot share it; with port 0 each finds one of its own');
  if (demo && auth && auth !== 'none')
    problems.push(`TIDEMARK_AUTH: the demo sends no credentials; it cannot run with ${auth}`);
  if (problems.length > 0) throw new Problem(problems.join('\n'));
}

/** The data folder, made when it is missing. */
export function dataFolder() {
  const folder = process.env.TIDEMARK_DATA || './data';
  try {
    // One level at a time: in some places, /proc among them, Node's recursive form tries for ever.
    for (const level of [...ancestors(folder), path.join(folder, 'logs')]) if (!isFolder(level)) mkdirSync(level);
    accessSync(folder, constants.W_OK);
  } catch (error) {
    throw new Problem(`TIDEMARK_DATA: cannot write to the folder ${folder}: ${error.message}`);
  }
  return folder;
}

/** The folder and those above it, the highest first. */
function ancestors(folder) {
  const above = path.dirname(path.resolve(folder));
  return above === path.resolve(folder) ? [above] : [...ancestors(above), path.resolve(folder)];
}

const isFolder = (name) => statSync(name, { throwIfNoEntry: false })?.isDirectory() === true;

/**
 * Appends what a service logs to its file. A file that cannot be written (a full disk, say) is given up with one line; the service
 * goes on, and its lines are still taken from it, because a full pipe would stop it.
 */
function keepLog(stream, file, name) {
  const log = createWriteStream(file, { flags: 'a' });
  log.on('error', (error) => {
    stream.unpipe(log);
    stream.resume();
    complain(`${name}: its log is not kept any more: ${error.message}`);
  });
  stream.pipe(log);
}

/**
 * Runs the services as child processes. Each one's log goes to a file; what it says on standard error is the reason when it fails.
 * `failed` rejects with a Problem naming the first service that ends by itself.
 */
export class Supervisor {
  #children = new Map();
  #stopping = false;
  #fail;
  failed = new Promise((_, reject) => (this.#fail = reject));

  constructor() {
    this.failed.catch(() => {});
  }

  get stopping() {
    return this.#stopping;
  }

  /** From now on a service that ends is no failure, and what has not begun does not begin. */
  willStop() {
    this.#stopping = true;
  }

  async start(folder) {
    await Promise.race([Promise.all(services.map((service) => this.#startOne(service, folder))), this.failed]);
  }

  async #startOne({ name, setting, standard }, folder) {
    // Its own process group, so that only we pass signals on; the IPC channel ends it when we are gone.
    const child = spawn(process.execPath, [...NODE_FLAGS, path.join(outDir(`apps/${name}`), 'main.js')], {
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      detached: true,
      env: { NODE_COMPILE_CACHE: compileCache, ...ownSettings },
    });
    keepLog(child.stdout, path.join(folder, 'logs', `${name}.log`), name);
    let complaint = '';
    child.stderr.on('data', (chunk) => (complaint = (complaint + chunk).slice(-4000)));
    const gone = new Promise((resolve) => child.once('close', (code, signal) => resolve({ code, signal })));
    this.#children.set(name, { child, gone });
    void gone.then(({ code, signal }) => this.#ended(name, code, signal, complaint));
    await new Promise((resolve) => child.on('message', (message) => message === 'listening' && resolve()));
    await this.#ready(name, urlOf({ setting, standard }));
  }

  #ended(name, code, signal, complaint) {
    this.#children.delete(name);
    if (this.#stopping) return;
    const how = signal === null ? `exit code ${code}` : `signal ${signal}`;
    const said = complaint.trim().split('\n')[0];
    this.#fail(
      new Problem(
        said === '' ? `${name} died (${how})` : said.startsWith(name) ? said : `${name} died (${how}): ${said}`,
      ),
    );
  }

  async #ready(name, url) {
    const endsAtMs = Date.now() + READY_MS_MAX;
    let state = 'no answer';
    while (Date.now() < endsAtMs) {
      try {
        const answer = await fetch(`${url}/readyz`);
        if (answer.ok) return;
        state = await answer.text();
      } catch (error) {
        state = error.message;
      }
      await sleep(50);
    }
    throw new Problem(`${name} is not ready after ${READY_MS_MAX / 1000} s: ${state}`);
  }

  /**
   * Asks every service to drain and waits for it; kills what does not end in time. Resolves to what went wrong, one line for each
   * service that did not end in order.
   */
  async stop() {
    this.#stopping = true;
    const ends = [...this.#children].map(async ([name, { child, gone }]) => {
      child.kill('SIGTERM');
      const hard = setTimeout(() => child.kill('SIGKILL'), STOP_MS_MAX);
      const { code, signal } = await gone;
      clearTimeout(hard);
      return code === 0
        ? []
        : [`${name} did not drain (${signal === null ? `exit code ${code}` : `signal ${signal}`})`];
    });
    return (await Promise.all(ends)).flat();
  }

  /** Ends every service at once. */
  kill() {
    this.#stopping = true;
    for (const { child } of this.#children.values()) child.kill('SIGKILL');
  }
}
