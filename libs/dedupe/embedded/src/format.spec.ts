import { ClassicLevel } from 'classic-level';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SpecFolder, keyOf, statuses } from './spec-store.ts';

let folder: SpecFolder;
beforeEach(async () => (folder = await SpecFolder.make()));
afterEach(() => folder.end());

describe('opening a folder', () => {
  test('OPS-5: a folder of a newer format is refused in one line', async () => {
    await putRaw('!format', '2');
    await expect(folder.open()).rejects.toMatchObject({
      code: 'misconfigured',
      message: `dedupe store ${folder.path}: format 2 is newer than 1, the newest this build reads`,
    });
  });

  test('OPS-5: a refused folder is left as it was, and unlocked', async () => {
    await putRaw('!format', '2');
    await expect(folder.open()).rejects.toThrow();
    await putRaw('!format', '1');
    await expect(folder.open()).resolves.toBeDefined();
  });

  test.each(['', '0', '1.5', 'one', '\u0001'])('OPS-5: a format mark of %p is corrupt', async (mark) => {
    await putRaw('!format', mark);
    await expect(folder.open()).rejects.toMatchObject({ code: 'corrupt' });
  });

  test('OPS-5: a LevelDB folder of something else is refused, so that no sweep empties it', async () => {
    await putRaw('a', 'b');
    await expect(folder.open()).rejects.toMatchObject({ code: 'misconfigured' });
  });

  test('OPS-5: the mark is there from the first opening on', async () => {
    await (await folder.open()).close();
    const db = new ClassicLevel(folder.path);
    expect(await db.get('!format')).toBe('1');
    await db.close();
  });

  test('DDP-1: a value of another shape reads as an id never seen', async () => {
    await (await folder.open()).close();
    await putRaw('acme/clicks/old', '8 bytes!');
    const store = await folder.open();
    expect(statuses(await store.reserve([keyOf('old')], 30_000))).toEqual(['claimed']);
  });

  test('DDP-1: what a commit writes is the stored key and nine bytes, and nothing else', async () => {
    const store = await folder.open();
    const keys = [
      { tenant: 'acme', table: 'clicks', id: 'evt-123' },
      { tenant: '0', table: 'clicks', id: 'e1' },
      { tenant: 'acme-co', table: 'db.t', id: 'a/b' },
      { tenant: '0', table: 't', id: '#%café' },
      { tenant: 'acme', table: 't', id: 'x'.repeat(1024) },
      { tenant: 'acme', table: 't', id: 'x'.repeat(1025) },
    ];
    await store.commit(await store.reserve(keys, 30_000), 0);
    await store.close();
    const db = new ClassicLevel<string, Uint8Array>(folder.path, { valueEncoding: 'view' });
    const entries = (await db.iterator().all()).map(([key, value]) => [key, Buffer.from(value).toString('hex')]);
    await db.close();
    expect(entries).toEqual(
      [
        '!format',
        '0/clicks/e1',
        '0/t/%23%25caf%C3%A9',
        'acme-co/db%2Et/a%2Fb',
        'acme/clicks/evt-123',
        expect.stringMatching(/^acme\/t\/#c6d8e9905300876046729949cc95c238[0-9a-f]{32}$/),
        `acme/t/${'x'.repeat(1024)}`,
      ].map((key) => [key, key === '!format' ? '31' : '020000000000000000']),
    );
  });

  test('DDP-2: a second opening in one process is refused as well', async () => {
    await folder.open();
    await expect(folder.open()).rejects.toMatchObject({ code: 'misconfigured' });
  });

  test('DDP-1: a folder that cannot be made is misconfigured, and a damaged one corrupt', async () => {
    await expect(folder.open({ folder: '/dev/null/dedupe' })).rejects.toMatchObject({ code: 'misconfigured' });
    await writeFile(join(folder.path, 'CURRENT'), 'no manifest');
    await expect(folder.open()).rejects.toMatchObject({ code: 'corrupt' });
  });
});

async function putRaw(key: string, value: string): Promise<void> {
  const db = new ClassicLevel(folder.path);
  await db.put(key, value);
  await db.close();
}
