import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { OpStore } from '@tidemark/libs-op-store-contract';
import { anOp, readAll } from '@tidemark/libs-op-store-contract/testing';
import { serverTests, skipped, startedHere } from '@tidemark/tools-services/testing';
import { Scratch } from './scratch.ts';

/** A disk of its own of so many MiB; null where none may be mounted. */
class SmallDisk {
  readonly folder: string;

  private constructor(folder: string) {
    this.folder = folder;
  }

  static mount(title: string, mib: number): SmallDisk | null {
    const folder = mkdtempSync(path.join(tmpdir(), 'tidemark-disk-'));
    const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${mib}m`, 'tmpfs', folder]).status === 0;
    if (mounted) return new SmallDisk(folder);
    rmSync(folder, { recursive: true });
    skipped(title, 'no right to mount a small disk');
    return null;
  }

  /** Takes space away, until it is given back. */
  fill(mib: number): void {
    writeFileSync(path.join(this.folder, 'ballast'), Buffer.alloc(mib << 20));
  }

  free(): void {
    rmSync(path.join(this.folder, 'ballast'));
  }

  remove(): void {
    spawnSync('umount', ['--lazy', this.folder]);
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Nothing that the server could make small. */
const large = (opId: string) => anOp({ opId, value: randomBytes(150_000).toString('base64') });

/** Appends until one is refused; answers how many were stored, and the refusal. */
async function fill(opStore: OpStore, name: string): Promise<{ readonly stored: number; readonly fault: unknown }> {
  for (let stored = 0; ; stored++) {
    try {
      await opStore.append('s', [large(`${name}-${stored}`)]);
    } catch (fault) {
      return { stored, fault };
    }
  }
}

async function seqsOf(opStore: OpStore): Promise<bigint[]> {
  return (await readAll(opStore, 's', 1000)).map(({ seq }) => seq);
}

const dense = (count: number) => Array.from({ length: count }, (_, i) => BigInt(i + 1));

const FULL = { code: 'disk_full', outcome: 'not-done' };

const postgresTest = serverTests('postgres', () => ({ env: { ...process.env, DATABASE_URL: '' } }));

let small: SmallDisk | null = null;
// After the server has been stopped.
afterAll(() => small?.remove());

const DATA =
  'OPS-6: a full disk under the tables refuses appends for certain, reads go on, nothing is lost, and with space again writes go on';
postgresTest(
  DATA,
  async (postgres) => {
    if (!startedHere(DATA, postgres)) return;
    small = SmallDisk.mount(DATA, 24);
    if (small === null) return;
    const disk = small;
    if (process.getuid?.() === 0) chownSync(disk.folder, ...idsOfNobody());
    const scratch = await new Scratch(postgres.endpoint).make();
    const admin = await scratch.client();
    await admin.query(`CREATE TABLESPACE ${scratch.name} LOCATION '${disk.folder}'`);
    const url = new URL(scratch.url);
    url.searchParams.set('options', `${url.searchParams.get('options')} -c default_tablespace=${scratch.name}`);
    disk.fill(8);
    const { opStore } = await scratch.open({ url: url.href });
    const before = await fill(opStore, 'before');
    expect(before.fault).toMatchObject(FULL);
    expect(before.stored).toBeGreaterThan(10);
    for (let i = 0; i < 20; i++) await expect(opStore.append('s', [large('more')])).rejects.toMatchObject(FULL);
    expect(await seqsOf(opStore)).toEqual(dense(before.stored));
    disk.free();
    const after = await fill(opStore, 'after');
    expect(after.fault).toMatchObject(FULL);
    expect(after.stored).toBeGreaterThan(10);
    expect(await seqsOf(opStore)).toEqual(dense(before.stored + after.stored));
    await opStore.close();
    await admin.query(`DROP SCHEMA ${scratch.name} CASCADE; CREATE SCHEMA ${scratch.name}`);
    await admin.query(`DROP TABLESPACE ${scratch.name}`);
    await scratch.remove();
  },
  300_000,
);

function idsOfNobody(): [uid: number, gid: number] {
  const id = (flag: string) => Number(spawnSync('id', [flag, 'nobody'], { encoding: 'utf8' }).stdout);
  return [id('-u'), id('-g')];
}

const LOG =
  'OPS-6, RLY-6: a full disk under the whole server loses nothing that was answered, however the server ends, and with space again writes go on';
let disk: SmallDisk | null;
const onSmallDisk = serverTests('postgres', () => {
  disk = SmallDisk.mount(LOG, 160);
  if (disk === null) return {};
  chmodSync(disk.folder, 0o755);
  return { folder: disk.folder, env: { ...process.env, DATABASE_URL: '' } };
});
afterAll(() => disk?.remove());

onSmallDisk(
  LOG,
  async (postgres) => {
    if (disk === null || !startedHere(LOG, postgres)) return;
    const scratch = await new Scratch(postgres.endpoint).make();
    const { opStore } = await scratch.open();
    disk.fill(60);
    const answered = new Map<string, bigint>();
    for (let i = 0, refused = 0; refused < 50; i++) {
      const op = large(`op-${i}`);
      await opStore.append('s', [op]).then(
        ([outcome]) => answered.set(op.opId, outcome?.seq as bigint),
        (fault) => {
          refused += 1;
          expect(['disk_full', 'unavailable', 'unknown_outcome']).toContain(fault.code);
        },
      );
    }
    expect(answered.size).toBeGreaterThan(10);
    disk.free();
    await postgres.server.crash();
    await postgres.server.restart();
    const { opStore: again } = await scratch.open();
    const stored = await readAll(again, 's', 1000);
    expect(stored.map(({ seq }) => seq)).toEqual(dense(stored.length));
    const seqs = new Map(stored.map(({ seq, op }) => [op.opId, seq]));
    for (const [opId, seq] of answered) expect([opId, seqs.get(opId)]).toEqual([opId, seq]);
    expect(await again.append('s', [large('after')])).toEqual([{ kind: 'stored', seq: BigInt(stored.length + 1) }]);
    await scratch.remove();
  },
  300_000,
);
