import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import path from 'node:path';

// Reads a pipe that only our process holds. Its end means that we died, however we died: kill -9 included. The folder is
// removed twice, for a program that had lost its parent may still have been writing.
const script = `
while read -r word signal; do
  [ "$word" = done ] && exit 0
  pid=$word drop=$signal
done
if [ "$pid" != none ]; then
  kill -s "$drop" "$pid"
  n=0
  while kill -0 "$pid" && [ $n -lt 50 ]; do sleep 0.1; n=$((n + 1)); done
  kill -s KILL "$pid"
fi
rm -rf "$1"
sleep 1
rm -rf "$1"
`;

/** A new folder for the files of one server, which does not outlive this process, and neither does the server. */
export class OwnFolder {
  readonly path: string;
  readonly #guardian: ChildProcess;

  constructor(path: string) {
    this.path = path;
    const stdio = ['pipe', 'ignore', 'ignore'] as const;
    this.#guardian = spawn('sh', ['-c', script, 'guardian', path], { cwd: '/', detached: true, stdio: [...stdio] });
    this.#guardian.unref();
    const pipe = this.#guardian.stdin;
    // A guardian that is already gone has nothing left to do.
    pipe?.on('error', () => {});
    if (pipe && 'unref' in pipe && typeof pipe.unref === 'function') pipe.unref();
    this.release();
  }

  static async make(parent: string, name: string): Promise<OwnFolder> {
    return new OwnFolder(await mkdtemp(path.join(parent, `tidemark-${name}-`)));
  }

  /** When this process dies, `signal` goes to the process `pid` before the folder is removed. */
  guard(pid: number, signal: NodeJS.Signals): void {
    this.#guardian.stdin?.write(`${pid} ${signal.replace('SIG', '')}\n`);
  }

  /** The guarded process has ended; its number may soon be somebody else's. */
  release(): void {
    this.#guardian.stdin?.write('none none\n');
  }

  async remove(): Promise<void> {
    await rm(this.path, { recursive: true, force: true });
    this.#guardian.stdin?.end('done\n');
  }
}
