import { execFile, type ExecFileOptions } from 'node:child_process';
import { access, constants } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

const execute = promisify(execFile);

/** Runs a program to its end and answers its output; a failure carries the program's last words. */
export async function run(file: string, args: readonly string[], options: ExecFileOptions = {}): Promise<string> {
  try {
    const { stdout } = await execute(file, args, { maxBuffer: 64 * 1024 * 1024, ...options, encoding: 'utf8' });
    return stdout.trim();
  } catch (error) {
    const { message, stderr = '' } = error as Error & { stderr?: string };
    const words = stderr.trim().split('\n').slice(-5).join('\n');
    throw new Error(`${file} ${args.join(' ')} failed: ${words || message}`, { cause: error });
  }
}

/** The full path of a program on PATH. */
export async function onPath(name: string, env: NodeJS.ProcessEnv): Promise<string | undefined> {
  for (const folder of (env['PATH'] ?? '').split(path.delimiter).filter(Boolean)) {
    const file = path.join(folder, name);
    if (await isThere(file, constants.X_OK)) return file;
  }
  return undefined;
}

export function isThere(file: string, mode = constants.F_OK): Promise<boolean> {
  return access(file, mode).then(
    () => true,
    () => false,
  );
}
