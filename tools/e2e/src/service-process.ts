import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import type { ServiceName } from './launcher.ts';

const root = path.resolve(import.meta.dirname, '../../..');
const NODE_FLAGS = JSON.parse(readFileSync(path.join(root, 'tools/launcher/node-flags.json'), 'utf8')) as string[];
const OURS = /^(TIDEMARK|RELAY|INGEST|FOLD|OTEL)_|^DATABASE_URL/;

/** Bundles the services from the sources as they are, once per spec file. A bundle that would not change is left alone. */
export async function buildServices(...names: readonly ServiceName[]): Promise<void> {
  const apps = JSON.stringify(names.map((name) => `apps/${name}`));
  const script = `import('./tools/launcher/bundle.mjs').then(({ bundle }) => Promise.all(${apps}.map((app) => bundle(app))))`;
  await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script], { cwd: root });
}

export interface Exit {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A service in a process of its own, as a container runs it. `env` names its settings; others are not inherited. */
export class ServiceProcess {
  readonly #child: ChildProcess;
  readonly exited: Promise<Exit>;
  #stdout = '';
  #stderr = '';
  #heard: (() => void)[] = [];

  constructor(name: ServiceName, env: NodeJS.ProcessEnv, args: readonly string[] = []) {
    const inherited = Object.entries(process.env).filter(([key]) => !OURS.test(key));
    this.#child = spawn(process.execPath, [...NODE_FLAGS, path.join(root, 'dist/apps', name, 'main.js'), ...args], {
      env: { ...Object.fromEntries(inherited), ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child.stdout?.on('data', (chunk) => this.#hear((this.#stdout += chunk)));
    this.#child.stderr?.on('data', (chunk) => this.#hear((this.#stderr += chunk)));
    this.exited = new Promise((resolve) =>
      this.#child.once('close', (code) => {
        resolve({ code, stdout: this.#stdout, stderr: this.#stderr });
        this.#hear('');
      }),
    );
  }

  #hear(_text: string): void {
    for (const look of this.#heard.splice(0)) look();
  }

  /** The first line of its log that is of interest, as an object; rejects when the service ends without it. */
  async logs(wanted: (line: Record<string, unknown>) => boolean): Promise<Record<string, unknown>> {
    for (;;) {
      const lines = this.#stdout.split('\n').slice(0, -1);
      const found = lines.map((line) => JSON.parse(line) as Record<string, unknown>).find(wanted);
      if (found !== undefined) return found;
      if (this.#child.exitCode !== null || this.#child.signalCode !== null)
        throw new Error(`the service ended: ${JSON.stringify(await this.exited)}`);
      await new Promise<void>((resolve) => this.#heard.push(resolve));
    }
  }

  /** Where it listens, and where its metrics are when they have an address of their own. */
  async listening(): Promise<{ readonly url: string; readonly metrics: string | undefined }> {
    const { address, metrics } = await this.logs(({ message }) => message === 'listening');
    return { url: String(address), metrics: metrics as string | undefined };
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Asks it to stop, as an orchestrator does, and tells how it ended. */
  async stop(): Promise<Exit> {
    this.kill('SIGTERM');
    return this.exited;
  }

  /** Ends whatever still runs, hard. */
  async destroy(): Promise<void> {
    this.kill('SIGKILL');
    await this.exited;
  }
}
