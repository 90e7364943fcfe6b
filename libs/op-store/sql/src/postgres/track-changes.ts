/**
 * A row for each stream that holds an op, kept by a trigger, so that writers of another make keep it too: which transaction appended to
 * the stream last (see changes.ts), in the byte order of the ids (see streams.ts). It may stand for a stream without ops: whether there
 * are any, and the head, only the ops themselves say.
 *
 * The trigger works once per statement, with the rights of its owner, under the stream's lock that the writer holds. It is there before
 * the streams of old are listed, and it keeps writers out until the migration ends.
 */
export function CHANGES_SQL(schema: string): string {
  return `
    CREATE TABLE IF NOT EXISTS ${schema}.stream_changes (
      stream_id text COLLATE "C" PRIMARY KEY,
      changed_in xid8 NOT NULL
    );
    CREATE INDEX IF NOT EXISTS stream_changes_order ON ${schema}.stream_changes (changed_in, stream_id);
    CREATE OR REPLACE FUNCTION ${schema}.note_changed_streams() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = pg_catalog, pg_temp AS $$
    BEGIN
      INSERT INTO ${schema}.stream_changes (stream_id, changed_in)
      SELECT DISTINCT stream_id COLLATE "C" AS changed, pg_current_xact_id() FROM appended ORDER BY changed
      ON CONFLICT (stream_id) DO UPDATE SET changed_in = excluded.changed_in;
      RETURN NULL;
    END $$;
    DROP TRIGGER IF EXISTS note_changed_streams ON ${schema}.stream_ops;
    CREATE TRIGGER note_changed_streams AFTER INSERT ON ${schema}.stream_ops
      REFERENCING NEW TABLE AS appended FOR EACH STATEMENT EXECUTE FUNCTION ${schema}.note_changed_streams();
    ALTER TABLE ${schema}.stream_ops ENABLE ALWAYS TRIGGER note_changed_streams;
    INSERT INTO ${schema}.stream_changes (stream_id, changed_in)
    WITH RECURSIVE listed (stream_id) AS (
      SELECT min(stream_id) FROM ${schema}.stream_ops
      UNION ALL
      SELECT (SELECT min(stream_id) FROM ${schema}.stream_ops WHERE stream_id > listed.stream_id)
      FROM listed WHERE listed.stream_id IS NOT NULL
    )
    SELECT stream_id, pg_current_xact_id() FROM listed WHERE stream_id IS NOT NULL
    ON CONFLICT (stream_id) DO NOTHING;`;
}
