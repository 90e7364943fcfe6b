import { execFile } from 'node:child_process';
import path from 'node:path';

export interface Said {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** `npm run NAME -- ...` of a command for operators, as a person would run it. */
export const operatorCommand =
  (name: 'dlq' | 'fold') =>
  (...args: string[]) =>
    new Promise<Said>((resolve) =>
      execFile(
        process.execPath,
        [path.resolve(import.meta.dirname, `../../launcher/${name}.mjs`), ...args],
        (error, stdout, stderr) => resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
      ),
    );
