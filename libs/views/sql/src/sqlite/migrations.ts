import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Format of the file, in its user_version. Every migration ends by setting the format it leads to. */
export const FORMAT = 1;

/** "TMVW": tells a file of views from the other SQLite files of a data folder. */
export const APPLICATION_ID = 0x544d5657;

/**
 * A row of `fields` is one register. The table keeps its rowid: bodies of a kilobyte and more are then stored beside the key's index
 * instead of inside it (measured with 2 KB values: 1.3 times the writes, 5 times the reads of WITHOUT ROWID). The value comes last, so
 * that a comparison of versions never reads its overflow pages.
 */
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

export const migrations = [CreateViews1790000000001];
