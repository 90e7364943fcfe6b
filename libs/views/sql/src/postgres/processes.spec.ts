import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { serverTests } from '@tidemark/tools-services/testing';
import { Scratch } from './scratch.ts';
import { change } from './spec-changes.ts';

const postgresTest = serverTests('postgres');

/** Writes two documents and the mark of each seq, and says when they are stored. */
const FOLD_FOR_EVER = `
  for (let seq = Number((await views.mark('s'))?.watermark.foldedThrough ?? 0n) + 1; ; seq++) {
    await views.apply('s', 1, [change('a' + seq, seq), change('b' + seq, seq)]);
    const watermark = { foldedThrough: BigInt(seq), ahead: [], holes: [], skipped: [], floor: 0n };
    const outcome = await views.saveMark('s', 1, watermark, seq - 1, new Map());
    if (outcome === 'saved') process.stdout.write(seq + '\\n');
  }`;

postgresTest(
  'FLD-9: a process that is killed loses nothing that was acknowledged, leaves no mark without its rows and no half of a call',
  async ({ endpoint }) => {
    const scratch = await Scratch.make(endpoint);
    await scratch.open();
    let last = 0;
    for (const fatal of [5, 12]) {
      const child = spawn(process.execPath, program(scratch.url), { stdio: ['ignore', 'pipe', 'inherit'] });
      const ended = once(child, 'exit');
      let lines = 0;
      for await (const line of createInterface(child.stdout)) {
        last = Number(line);
        if (++lines === fatal) child.kill('SIGKILL');
      }
      await ended;
      const views = await scratch.open();
      const through = Number((await views.mark('s'))!.watermark.foldedThrough);
      expect(through).toBeGreaterThanOrEqual(last);
      const { documents } = await views.documents('s', 'events', null, 1000);
      const ids = new Set(documents.map(({ id }) => id));
      for (let seq = 1; seq <= through; seq++) expect(ids.has(`a${seq}`) && ids.has(`b${seq}`)).toBe(true);
      expect(ids.has(`a${through + 1}`)).toBe(ids.has(`b${through + 1}`));
      await views.close();
    }
    const locks = await scratch.look(`SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND granted`);
    expect(locks).toEqual([]);
    await scratch.remove();
  },
  60_000,
);

/** Arguments of Node for a process that opens the database and folds. */
function program(url: string): string[] {
  const entry = pathToFileURL(path.join(import.meta.dirname, 'connect.ts')).href;
  const source = `
    import { connectPostgresViews } from ${JSON.stringify(entry)};
    const views = await connectPostgresViews({ url: ${JSON.stringify(url)}, warn: () => {} });
    const change = ${change.toString()};
    ${FOLD_FOR_EVER}`;
  return ['--input-type=module', '-e', source];
}
