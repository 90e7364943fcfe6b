import { type ChildProcess, execFile, spawn } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';

const root = path.resolve(import.meta.dirname, '../../..');
const OURS = /^(TIDEMARK|RELAY|INGEST|FOLD)_|^DATABASE_URL/;

/** Bundles the relay from the sources as they are, once per spec file. A bundle that would not change is left alone. */
export async function buildRelay(): Promise<void> {
  const script = `import('./tools/launcher/bundle.mjs').then(({ bundle }) => bundle('apps/relay'))`;
  await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script], { cwd: root });
}

/** A relay in a process of its own, as a container runs it. */
export class RelayProcess {
  readonly url: string;
  readonly #child: ChildProcess;
  readonly exited: Promise<void>;

  private constructor(child: ChildProcess, url: string) {
    this.#child = child;
    this.url = url;
    this.exited = new Promise((resolve) => child.once('exit', () => resolve()));
  }

  /** Resolves when it listens; rejects with what it wrote when it ends before. `env` names its settings; others are not inherited. */
  static async start(env: NodeJS.ProcessEnv): Promise<RelayProcess> {
    const inherited = Object.entries(process.env).filter(([name]) => !OURS.test(name));
    const child = spawn(process.execPath, [path.join(root, 'dist/apps/relay/main.js')], {
      env: { ...Object.fromEntries(inherited), RELAY_ADDR: '127.0.0.1:0', RELAY_INTAKE: 'off', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    return new RelayProcess(child, await listening(child));
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  async stop(): Promise<void> {
    this.kill('SIGKILL');
    await this.exited;
  }
}

function listening(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let written = '';
    child.stderr?.on('data', (chunk) => (written += chunk));
    child.stdout?.on('data', (chunk) => {
      written += chunk;
      const address = /"address":"(http:[^"]+)".*"message":"listening"/.exec(written)?.[1];
      if (address !== undefined) resolve(address);
    });
    child.once('exit', (code) => reject(new Error(`the relay ended (${code}): ${written}`)));
  });
}
