import { execFile, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { NOTHING_FOLDED, type RegisterChange, type Views } from '@tidemark/libs-views-contract';
import { viewsConformance } from '@tidemark/libs-views-contract/testing';
import Database from 'better-sqlite3';
import { connectSqliteViews } from '../index.ts';
import { mapError } from './map-error.ts';

const STREAM = '0.events';
const NO_REVISIONS = new Map();

let folder: string;
let file: string;
let opened: Views[];

beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'tidemark-views-'));
  file = path.join(folder, 'views.sqlite');
  opened = [];
});

afterEach(async () => {
  for (const views of opened) await views.close();
  rmSync(folder, { recursive: true });
});

async function open(busyTimeoutMs = 2000): Promise<Views> {
  const views = await connectSqliteViews({ file, busyTimeoutMs });
  opened.push(views);
  return views;
}

function change(id: string, lamport: bigint, value = 'null'): RegisterChange {
  const version = { rank: 0n, lamport, site: 0n, seq: lamport };
  const cell = { kind: 'events', id, field: 'body', shape: 'register', member: '' };
  return { effect: 'register', ...cell, value, rule: 'higher', version } as RegisterChange;
}

describe('views in SQLite', () => {
  for (const { title, run } of viewsConformance) {
    it(title, () => run({ open }));
  }

  it('FLD-9: a call whose last change cannot be stored stores none of them', async () => {
    const views = await open();
    await views.saveMark(STREAM, 1, NOTHING_FOLDED, 0, NO_REVISIONS);
    await expect(views.apply(STREAM, 1, [change('a', 1n), change('b', 2n ** 63n)])).rejects.toThrow();
    expect(await views.document(STREAM, 'events', 'a')).toBeNull();
  });

  it('rows and marks are there after the file was closed and opened again', async () => {
    const first = await open();
    await first.apply(STREAM, 1, [change('a', 1n, '"kept"')]);
    await first.saveMark(STREAM, 1, { ...NOTHING_FOLDED, foldedThrough: 1n }, 0, NO_REVISIONS);
    await first.close();
    await first.close();
    const again = await open();
    expect((await again.document(STREAM, 'events', 'a'))?.fields.get('body')?.members.get('')?.value).toBe('"kept"');
    expect((await again.mark(STREAM))?.watermark.foldedThrough).toBe(1n);
  });

  it('F14: while another process writes, a write is unavailable after the wait, and a read is served', async () => {
    const views = await open(0);
    await views.saveMark(STREAM, 1, NOTHING_FOLDED, 0, NO_REVISIONS);
    const other = new Database(file);
    other.exec('BEGIN IMMEDIATE');
    await expect(views.apply(STREAM, 1, [change('a', 1n)])).rejects.toMatchObject({
      code: 'unavailable',
      outcome: 'not-done',
    });
    expect((await views.mark(STREAM))?.version).toBe(1);
    await views.ping();
    other.close();
    await views.apply(STREAM, 1, [change('a', 1n)]);
  });
});

describe('the file of views', () => {
  it('is created with its folder', async () => {
    file = path.join(folder, 'deep', 'er', 'views.sqlite');
    await open();
    expect(existsSync(file)).toBe(true);
  });

  it('OPS-5: of a newer format is refused in one line and left as it is', async () => {
    await (await open()).close();
    raw((db) => db.pragma('user_version = 3'));
    const refusal = await open().catch((fault: unknown) => fault);
    expect(refusal).toMatchObject({
      code: 'misconfigured',
      message: `${file} has format 3, and this build reads up to 2: start a newer build`,
    });
    raw((db) => expect(db.pragma('user_version', { simple: true })).toBe(3));
  });

  it('OPS-5: of something else is refused and left as it is', async () => {
    raw((db) => db.exec('CREATE TABLE ops (seq INTEGER)'));
    await expect(open()).rejects.toMatchObject({
      code: 'misconfigured',
      message: `${file} is not a file of folded views`,
    });
    raw((db) => expect(db.prepare('SELECT name FROM sqlite_master').pluck().all()).toEqual(['ops']));
  });

  it('that is no database is corrupt', async () => {
    writeFileSync(file, 'this is no database, whatever its name says'.repeat(100));
    await expect(open()).rejects.toMatchObject({ code: 'corrupt', message: expect.stringContaining(file) });
  });

  it('that is a folder is a wrong setting', async () => {
    file = folder;
    await expect(open()).rejects.toMatchObject({ code: 'misconfigured', message: expect.stringContaining(file) });
  });

  it('whose folder cannot be made is a wrong setting', async () => {
    writeFileSync(path.join(folder, 'taken'), '');
    file = path.join(folder, 'taken', 'views.sqlite');
    await expect(open()).rejects.toMatchObject({ code: 'misconfigured', message: expect.stringContaining(file) });
  });

  it('with a mark that cannot be read is corrupt, and says which stream', async () => {
    const views = await open();
    await views.saveMark(STREAM, 1, NOTHING_FOLDED, 0, NO_REVISIONS);
    raw((db) => db.exec(`UPDATE marks SET ahead = '[["1'`));
    await expect(views.mark(STREAM)).rejects.toMatchObject({
      code: 'corrupt',
      message: expect.stringContaining(STREAM),
    });
  });

  it('OPS-6: that cannot grow is a full disk, with nothing done', () => {
    raw((db) => {
      db.exec('CREATE TABLE t (v)');
      db.pragma('max_page_count = 3');
      const grow = () => db.prepare('INSERT INTO t VALUES (zeroblob(100000))').run();
      expect(faultOf(grow)).toMatchObject({ code: 'disk_full', outcome: 'not-done' });
    });
  });

  it('that may only be read is a wrong setting', () => {
    raw((db) => db.exec('CREATE TABLE t (v)'));
    const db = new Database(file, { readonly: true });
    expect(faultOf(() => db.exec('DELETE FROM t'))).toMatchObject({ code: 'misconfigured' });
    db.close();
  });

  it('gives an unknown error as a defect', () => {
    expect(mapError(new Error('what?'), file)).toMatchObject({ code: 'internal', outcome: 'unknown' });
  });
});

describe('processes that share a file of views', () => {
  it('FLD-5: open a new file together, and each of them can write', async () => {
    const programs = ['a', 'b', 'c', 'd'].map((id) =>
      promisify(execFile)(process.execPath, program(`await views.apply('s', 1, [change('${id}', 1n)]);`)),
    );
    await Promise.all(programs);
    const views = await open();
    await views.saveMark('s', 1, NOTHING_FOLDED, 0, NO_REVISIONS);
    expect((await views.documents('s', 'events', null, 10)).documents.map(({ id }) => id)).toEqual([
      'a',
      'b',
      'c',
      'd',
    ]);
  }, 30_000);

  it('FLD-9: a process that is killed loses nothing that was acknowledged, and leaves no mark without its rows', async () => {
    const child = spawn(
      process.execPath,
      program(`
        for (let seq = 1n; ; seq++) {
          await views.apply('s', 1, [change(String(seq), seq)]);
          await views.saveMark('s', 1, { foldedThrough: seq, ahead: [], holes: [], skipped: [], floor: 0n }, Number(seq) - 1, new Map());
          writeSync(1, seq + '\\n');
        }`),
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    let acknowledged = '';
    child.stdout.on('data', (chunk: Buffer) => {
      acknowledged += chunk.toString();
      if (acknowledged.length > 1000) child.kill('SIGKILL');
    });
    await new Promise((resolve) => child.on('close', resolve));
    const last = BigInt(acknowledged.slice(0, acknowledged.lastIndexOf('\n')).split('\n').at(-1)!);
    const views = await open();
    const foldedThrough = (await views.mark('s'))!.watermark.foldedThrough;
    expect(foldedThrough).toBeGreaterThanOrEqual(last);
    for (let seq = 1n; seq <= foldedThrough; seq++) {
      expect(await views.document('s', 'events', String(seq))).not.toBeNull();
    }
  }, 30_000);
});

/** Arguments of Node for a process that opens the file and does the work. */
function program(work: string): string[] {
  const entry = pathToFileURL(path.join(import.meta.dirname, '../index.ts')).href;
  const source = `
    import { writeSync } from 'node:fs';
    import { connectSqliteViews } from ${JSON.stringify(entry)};
    const views = await connectSqliteViews({ file: ${JSON.stringify(file)} });
    const change = ${change.toString()};
    ${work}
    await views.close();`;
  return ['--input-type=module', '-e', source];
}

function raw(work: (db: Database.Database) => void): void {
  const db = new Database(file);
  try {
    work(db);
  } finally {
    db.close();
  }
}

function faultOf(work: () => void): unknown {
  try {
    work();
  } catch (thrown) {
    return mapError(thrown, file);
  }
  throw new Error('nothing was thrown');
}
