import { Fault } from '@tidemark/libs-kernel';
import type { LevelFolder } from './level-folder.ts';

/** No stored key equals it: those contain two slashes. It sorts before them all. */
export const FORMAT_KEY = '!format';
const FORMAT = 1;

/** Marks an empty folder with this build's format, and answers whether it was empty; refuses a newer one, and a LevelDB folder of anything else (OPS-5). */
export async function checkFormat(level: LevelFolder): Promise<boolean> {
  const [value] = await level.getMany([FORMAT_KEY]);
  if (value === undefined) {
    await markEmpty(level);
    return true;
  }
  const text = Buffer.from(value).toString();
  if (!/^[1-9][0-9]*$/.test(text)) throw refused('corrupt', level, 'its format mark cannot be read');
  if (Number(text) > FORMAT)
    throw refused('misconfigured', level, `format ${text} is newer than ${FORMAT}, the newest this build reads`);
  return false;
}

async function markEmpty(level: LevelFolder): Promise<void> {
  const entries = await level.scan('', 1);
  if (entries.length > 0) throw refused('misconfigured', level, 'a LevelDB folder, but not a dedupe store');
  await level.write([{ type: 'put', key: FORMAT_KEY, value: Buffer.from(String(FORMAT)) }], { sync: true });
}

function refused(code: 'corrupt' | 'misconfigured', level: LevelFolder, why: string): Fault {
  return new Fault(code, `dedupe store ${level.folder}: ${why}`);
}
