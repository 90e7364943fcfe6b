import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

const flags = path.resolve(import.meta.dirname, '../../../launcher/node-flags.json');
const NODE_FLAGS = JSON.parse(readFileSync(flags, 'utf8')) as string[];

/** Each service reads its own. */
const ADDRESSES = { RELAY_ADDR: '127.0.0.1:0', INGEST_ADDR: '127.0.0.1:0', FOLD_ADDR: '127.0.0.1:0' };

/** A service on an empty data folder, with its own defaults otherwise, or the settings given. */
export class IdleProcess {
  readonly url: string;
  readonly readyMs: number;
  readonly #child: ChildProcess;
  readonly #folder: string;

  private constructor(url: string, readyMs: number, child: ChildProcess, folder: string) {
    this.url = url;
    this.readyMs = readyMs;
    this.#child = child;
    this.#folder = folder;
  }

  /** Resolves when `/readyz` is 200; `readyMs` counts from the start of the process. */
  static async start(entry: string, more: NodeJS.ProcessEnv = {}): Promise<IdleProcess> {
    const folder = mkdtempSync(path.join(os.tmpdir(), 'tidemark-idle-'));
    const startMs = performance.now();
    const child = spawn(process.execPath, [...NODE_FLAGS, entry], {
      env: { PATH: process.env.PATH, TIDEMARK_DATA: folder, ...ADDRESSES, ...more },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const url = await listening(child);
    const ready = await fetch(`${url}/readyz`);
    const readyMs = performance.now() - startMs;
    if (ready.status !== 200) throw new Error(`${entry}: not ready: ${await ready.text()}`);
    return new IdleProcess(url, readyMs, child, folder);
  }

  /** Resident memory in MiB. */
  memory(): number {
    const status = readFileSync(`/proc/${this.#child.pid}/status`, 'utf8');
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024;
  }

  async stop(): Promise<void> {
    const exited = new Promise((resolve) => this.#child.once('exit', resolve));
    this.#child.kill('SIGTERM');
    await exited;
    rmSync(this.#folder, { recursive: true });
  }
}

function listening(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    child.stdout?.on('data', (chunk) => {
      text += chunk;
      const address = /"address":"(http:[^"]+)".*"message":"listening"/.exec(text)?.[1];
      if (address !== undefined) resolve(address);
    });
    child.once('exit', (code) => reject(new Error(`ended (${code}) before it listened: ${text}`)));
  });
}
