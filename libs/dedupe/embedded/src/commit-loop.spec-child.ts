/**
 * A process for the specs to kill: in the folder given as argument it claims window -1 and says `claimed`, then commits windows 0, 1, 2 ...,
 * says `acked N` once N is committed and `fault CODE MESSAGE` when something is refused, and never ends by itself while the folder is open.
 */
import { writeSync } from 'node:fs';
import { asFault } from '@tidemark/libs-kernel';
import { ManualTime, SeededRandom } from '@tidemark/libs-kernel/testing';
import { connectEmbeddedDeduplicator } from './connect.ts';
import { windowOf } from './spec-store.ts';

const say = (line: string) => writeSync(1, `${line}\n`);
const sayFault = (thrown: unknown) => say(`fault ${asFault(thrown).code} ${asFault(thrown).message}`);

const [, , folder = ''] = process.argv;
const time = new ManualTime();
try {
  const store = await connectEmbeddedDeduplicator({ folder, clock: time, sleeper: time, random: new SeededRandom(1) });
  await store.reserve(windowOf(-1), 0);
  say('claimed');
  for (let n = 0; ; n++) {
    try {
      await store.commit(await store.reserve(windowOf(n), 0), 0);
      say(`acked ${n}`);
    } catch (thrown) {
      sayFault(thrown);
    }
  }
} catch (thrown) {
  sayFault(thrown);
}
