import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import Database from 'better-sqlite3';
import { connectSqliteViews } from '../index.ts';

/** As the first build left it. */
const FORMAT_1 = `
  CREATE TABLE fields (
    stream TEXT NOT NULL, epoch INTEGER NOT NULL, kind TEXT NOT NULL, id TEXT NOT NULL, field TEXT NOT NULL,
    rank INTEGER NOT NULL, lamport INTEGER NOT NULL, site INTEGER NOT NULL, seq INTEGER NOT NULL, value TEXT NOT NULL,
    PRIMARY KEY (stream, epoch, kind, id, field)) STRICT;
  CREATE TABLE marks (
    stream TEXT NOT NULL PRIMARY KEY, epoch INTEGER NOT NULL, version INTEGER NOT NULL, folded_through INTEGER NOT NULL,
    floor INTEGER NOT NULL, ahead TEXT NOT NULL, holes TEXT NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TABLE migrations (id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, timestamp BIGINT NOT NULL, name VARCHAR NOT NULL);
  INSERT INTO migrations (timestamp, name) VALUES (1790000000001, 'CreateViews1790000000001');
  INSERT INTO fields VALUES ('0.events', 1, 'events', 'e1', 'body', 0, ${2n ** 62n}, -5, 7, '{ "n": 1.10 }');
  INSERT INTO fields VALUES ('0.events', 1, 'events', 'e2', 'body', 0, 1, 0, 8, 'null');
  INSERT INTO marks VALUES ('0.events', 1, 3, 8, 0, '[["10","10"]]', '[["9","9",5]]');
  PRAGMA application_id = ${0x544d5657};
  PRAGMA user_version = 1;`;

describe('a file of format 1', () => {
  let folder: string;
  let file: string;

  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'tidemark-views-'));
    file = path.join(folder, 'views.sqlite');
    const db = new Database(file);
    db.exec(FORMAT_1);
    db.close();
  });

  afterEach(() => rmSync(folder, { recursive: true }));

  it('OPS-5, FLD-1: keeps its rows and its marks, of the reducer that it was folded by', async () => {
    const views = await connectSqliteViews({ file });
    expect(await views.mark('0.events')).toEqual({
      watermark: {
        foldedThrough: 8n,
        ahead: [{ from: 10n, to: 10n }],
        holes: [{ from: 9n, to: 9n, firstSeenMs: 5 }],
        skipped: [],
        floor: 0n,
      },
      epoch: 1,
      version: 3,
      revisions: new Map([['event', 0]]),
    });
    const version = { rank: 0n, lamport: 2n ** 62n, site: -5n, seq: 7n };
    const members = new Map([['', { value: '{ "n": 1.10 }', version }]]);
    const document = {
      kind: 'events',
      id: 'e1',
      fields: new Map([['body', { shape: 'register', members }]]),
    };
    expect(await views.document('0.events', 'events', 'e1')).toEqual(document);
    expect((await views.documents('0.events', 'events', null, 10)).documents).toHaveLength(2);
    await views.close();
  });

  it('FLD-7: goes on: marks are saved over, and another epoch is built beside', async () => {
    const views = await connectSqliteViews({ file });
    const { watermark, revisions } = (await views.mark('0.events'))!;
    expect(await views.saveMark('0.events', 1, watermark, 3, revisions)).toBe('saved');
    expect(await views.startBuild('0.events', new Map([['event', 1]]))).toMatchObject({ epoch: 2 });
    await views.close();
  });

  it('OPS-5: is moved on once, by whichever of several openers comes first', async () => {
    const opened = await Promise.all([1, 2, 3, 4].map(() => connectSqliteViews({ file })));
    for (const views of opened) expect((await views.mark('0.events'))?.version).toBe(3);
    for (const views of opened) await views.close();
    const db = new Database(file);
    expect(db.pragma('user_version', { simple: true })).toBe(2);
    const tables = `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%' ORDER BY name`;
    expect(db.prepare(tables).pluck().all()).toEqual(['cells', 'marks', 'migrations', 'parked']);
    db.close();
  });
});
