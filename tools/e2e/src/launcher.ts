import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import os from 'node:os';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '../../..');
const OURS = /^(TIDEMARK|RELAY|INGEST|FOLD)_/;

/** A data folder and three free ports: everything that one set of services needs to stand apart from others. */
export interface Site {
  readonly folder: string;
  readonly urls: { readonly relay: string; readonly ingest: string; readonly fold: string };
  readonly env: NodeJS.ProcessEnv;
  remove(): void;
}

export async function newSite(): Promise<Site> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'tidemark-e2e-'));
  const [relay, ingest, fold] = await freePorts(3);
  const inherited = Object.entries(process.env).filter(([name]) => !OURS.test(name));
  return {
    folder,
    urls: {
      relay: `http://127.0.0.1:${relay}`,
      ingest: `http://127.0.0.1:${ingest}`,
      fold: `http://127.0.0.1:${fold}`,
    },
    env: {
      ...Object.fromEntries(inherited),
      TIDEMARK_DATA: path.join(folder, 'data'),
      RELAY_ADDR: `127.0.0.1:${relay}`,
      INGEST_ADDR: `127.0.0.1:${ingest}`,
      FOLD_ADDR: `127.0.0.1:${fold}`,
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer();
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      return server;
    }),
  );
  const ports = servers.map((server) => (server.address() as { port: number }).port);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** `npm start` with arguments, as a person would run it, under the Node of this process. */
export class Launcher {
  readonly #child: ChildProcess;
  readonly ended: Promise<Ended>;
  #stdout = '';
  #stderr = '';
  #waiting: (() => void)[] = [];

  constructor(site: Site, args: readonly string[] = []) {
    const script = path.join(root, 'tools', 'launcher', 'start.mjs');
    this.#child = spawn(process.execPath, [script, ...args], {
      cwd: root,
      env: site.env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child.stdout?.on('data', (chunk) => this.#heard((this.#stdout += chunk)));
    this.#child.stderr?.on('data', (chunk) => this.#heard((this.#stderr += chunk)));
    this.ended = new Promise((resolve) =>
      this.#child.once('close', (code, signal) => {
        resolve({ code, signal, stdout: this.#stdout, stderr: this.#stderr });
        this.#heard('');
      }),
    );
  }

  #heard(_text: string): void {
    for (const look of this.#waiting.splice(0)) look();
  }

  get pid(): number {
    if (this.#child.pid === undefined) throw new Error('the launcher did not start');
    return this.#child.pid;
  }

  /** Resolves when standard output holds the pattern; rejects when the launcher ends without it. */
  async says(pattern: RegExp): Promise<RegExpMatchArray> {
    for (;;) {
      const match = pattern.exec(this.#stdout);
      if (match !== null) return match;
      if (this.#child.exitCode !== null || this.#child.signalCode !== null) {
        const { stdout, stderr, code } = await this.ended;
        const last = pattern.exec(stdout);
        if (last !== null) return last;
        throw new Error(`the launcher ended (${code}) without ${pattern}\n${stdout}\n${stderr}`);
      }
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Ends whatever still runs, hard; for the end of a test. */
  async destroy(site: Site): Promise<void> {
    for (const pid of [...servicePids(site).values(), this.pid]) hardKill(pid);
    await this.ended;
  }
}

export type ServiceName = 'relay' | 'ingest' | 'fold-worker';

/** The running service processes of a site, by name; found by their environment, because a crash leaves no other trace. */
export function servicePids(site: Site): Map<ServiceName, number> {
  const pids = new Map<ServiceName, number>();
  for (const entry of readdirSync('/proc')) {
    if (!/^\d+$/.test(entry)) continue;
    const name = /dist\/apps\/([\w-]+)\/main\.js/.exec(procText(entry, 'cmdline'))?.[1] as ServiceName | undefined;
    if (name === undefined || !procText(entry, 'environ').includes(`TIDEMARK_DATA=${site.env.TIDEMARK_DATA}\0`))
      continue;
    pids.set(name, Number(entry));
  }
  return pids;
}

function procText(pid: string, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}

export function hardKill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It is gone already.
  }
}
