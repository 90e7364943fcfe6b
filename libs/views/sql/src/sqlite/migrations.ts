import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Format of the file, in its user_version. Every migration ends by setting the format it leads to. */
export const FORMAT = 2;

/** "TMVW": tells a file of views from the other SQLite files of a data folder. */
export const APPLICATION_ID = 0x544d5657;

class CreateViews1790000000001 implements MigrationInterface {
  readonly name = 'CreateViews1790000000001';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE fields (
        stream  TEXT    NOT NULL,
        epoch   INTEGER NOT NULL,
        kind    TEXT    NOT NULL,
        id      TEXT    NOT NULL,
        field   TEXT    NOT NULL,
        rank    INTEGER NOT NULL,
        lamport INTEGER NOT NULL,
        site    INTEGER NOT NULL,
        seq     INTEGER NOT NULL,
        value   TEXT    NOT NULL,
        PRIMARY KEY (stream, epoch, kind, id, field)
      ) STRICT`);
    await queryRunner.query(`
      CREATE TABLE marks (
        stream         TEXT    NOT NULL PRIMARY KEY,
        epoch          INTEGER NOT NULL,
        version        INTEGER NOT NULL,
        folded_through INTEGER NOT NULL,
        floor          INTEGER NOT NULL,
        ahead          TEXT    NOT NULL,
        holes          TEXT    NOT NULL
      ) STRICT, WITHOUT ROWID`);
    await queryRunner.query(`PRAGMA application_id = ${APPLICATION_ID}`);
    await queryRunner.query('PRAGMA user_version = 1');
  }

  /** Views can be folded again from the log; nothing goes back to an older format. */
  async down(): Promise<void> {}
}

/**
 * A row of `cells` is one member; without a value it is removed, for ever. The table keeps its rowid: bodies of a kilobyte and more are then
 * stored beside the key's index instead of inside it (measured with 2 KB values: 1.3 times the writes, 5 times the reads of WITHOUT ROWID).
 * The value comes last, so that a comparison of versions never reads its overflow pages.
 *
 * A row of `marks` is one epoch; the highest number stays when its epoch is left, so that it is not used again. Format 1 was folded by
 * revision 0 of the domain `event` alone.
 */
class CellsOfMembers1790000000002 implements MigrationInterface {
  readonly name = 'CellsOfMembers1790000000002';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE cells (
        stream  TEXT    NOT NULL,
        epoch   INTEGER NOT NULL,
        kind    TEXT    NOT NULL,
        id      TEXT    NOT NULL,
        field   TEXT    NOT NULL,
        member  TEXT    NOT NULL,
        shape   TEXT    NOT NULL,
        rank    INTEGER NOT NULL,
        lamport INTEGER NOT NULL,
        site    INTEGER NOT NULL,
        seq     INTEGER NOT NULL,
        value   TEXT,
        PRIMARY KEY (stream, epoch, kind, id, field, member)
      ) STRICT`);
    await queryRunner.query(`
      INSERT INTO cells (stream, epoch, kind, id, field, member, shape, rank, lamport, site, seq, value)
      SELECT stream, epoch, kind, id, field, '', 'register', rank, lamport, site, seq, value FROM fields`);
    await queryRunner.query('DROP TABLE fields');
    await queryRunner.query('ALTER TABLE marks RENAME TO marks_of_format_1');
    await queryRunner.query(`
      CREATE TABLE marks (
        stream         TEXT    NOT NULL,
        epoch          INTEGER NOT NULL,
        role           TEXT    NOT NULL CHECK (role IN ('shown', 'build', 'left')),
        version        INTEGER NOT NULL,
        folded_through INTEGER NOT NULL,
        floor          INTEGER NOT NULL,
        ahead          TEXT    NOT NULL,
        holes          TEXT    NOT NULL,
        skipped        TEXT    NOT NULL,
        revisions      TEXT    NOT NULL,
        PRIMARY KEY (stream, epoch)
      ) STRICT, WITHOUT ROWID`);
    await queryRunner.query(`CREATE UNIQUE INDEX marks_shown ON marks (stream) WHERE role = 'shown'`);
    await queryRunner.query(`CREATE UNIQUE INDEX marks_build ON marks (stream) WHERE role = 'build'`);
    await queryRunner.query(`
      INSERT INTO marks (stream, epoch, role, version, folded_through, floor, ahead, holes, skipped, revisions)
      SELECT stream, epoch, 'shown', version, folded_through, floor, ahead, holes, '[]', '[["event",0]]'
      FROM marks_of_format_1`);
    await queryRunner.query('DROP TABLE marks_of_format_1');
    await queryRunner.query(`
      CREATE TABLE parked (
        stream TEXT    NOT NULL,
        epoch  INTEGER NOT NULL,
        seq    INTEGER NOT NULL,
        op     TEXT    NOT NULL,
        PRIMARY KEY (stream, epoch, seq)
      ) STRICT, WITHOUT ROWID`);
    await queryRunner.query('PRAGMA user_version = 2');
  }

  async down(): Promise<void> {}
}

export const migrations = [CreateViews1790000000001, CellsOfMembers1790000000002];
