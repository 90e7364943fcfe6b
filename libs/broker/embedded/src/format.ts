import type { Database } from 'better-sqlite3';
import { type Clock, Fault } from '@tidemark/libs-kernel';
import { QueueClock } from './queue-clock.ts';
import { transact } from './transact.ts';

/** Marks the file as a queue file of ours ("tmQ1"). */
const APPLICATION_ID = 0x746d5131;
const FORMAT = 2;

/**
 * queues      one row a tenant: budget, exact counts, the seq given last. Its name is given once and to no other queue ever
 * messages    what is stored; removed when every consumer of the queue has acked it
 * keys        idempotency keys of the window, a row for each transaction and queue that stored some: JSON, by place after first_seq
 * consumers   durable names; every message above delivered_through was never given to it
 * deliveries  messages up to delivered_through that the consumer has not acked; a message without a row is settled
 * clock       makes the wall clock, which all processes share, one that does not go back
 */
const SCHEMA = `
CREATE TABLE clock (id INTEGER PRIMARY KEY, ahead_ms INTEGER NOT NULL, latest_ms INTEGER NOT NULL) STRICT;
INSERT INTO clock VALUES (1, 0, 0);
CREATE TABLE queues (
  id INTEGER PRIMARY KEY, tenant TEXT NOT NULL UNIQUE, name TEXT NOT NULL UNIQUE,
  bytes_max INTEGER NOT NULL, bytes INTEGER NOT NULL, messages INTEGER NOT NULL, last_seq INTEGER NOT NULL,
  dead_letters INTEGER NOT NULL, last_dead_letter INTEGER NOT NULL
) STRICT;
CREATE TABLE messages (
  id INTEGER PRIMARY KEY, queue_id INTEGER NOT NULL, seq INTEGER NOT NULL, bytes INTEGER NOT NULL,
  table_name TEXT NOT NULL, key TEXT, body BLOB NOT NULL, stored_at_ms INTEGER NOT NULL, UNIQUE (queue_id, seq)
) STRICT;
CREATE TABLE keys (
  id INTEGER PRIMARY KEY, queue_id INTEGER NOT NULL, first_seq INTEGER NOT NULL, stored_at_ms INTEGER NOT NULL, keys TEXT NOT NULL
) STRICT;
CREATE TABLE consumers (
  id INTEGER PRIMARY KEY, queue_id INTEGER NOT NULL, name TEXT NOT NULL, delivered_through INTEGER NOT NULL,
  UNIQUE (queue_id, name)
) STRICT;
CREATE TABLE deliveries (
  consumer_id INTEGER NOT NULL, seq INTEGER NOT NULL, attempt INTEGER NOT NULL, due_at_ms INTEGER NOT NULL,
  PRIMARY KEY (consumer_id, seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX deliveries_due ON deliveries (consumer_id, due_at_ms);
CREATE TABLE dead_letters (
  queue_id INTEGER NOT NULL, id INTEGER NOT NULL, seq INTEGER NOT NULL, bytes INTEGER NOT NULL, table_name TEXT NOT NULL,
  key TEXT, body BLOB NOT NULL, reason TEXT NOT NULL, parked_at_ms INTEGER NOT NULL,
  PRIMARY KEY (queue_id, id), UNIQUE (queue_id, seq)
) STRICT;
CREATE TABLE leases (
  name TEXT PRIMARY KEY, owner TEXT NOT NULL, term INTEGER NOT NULL, ends_at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
PRAGMA application_id = ${APPLICATION_ID};
PRAGMA user_version = ${FORMAT};
`;

/**
 * Makes the tables of an empty file, and brings one of an older build up to date; refuses a file of something else, and one of a newer
 * build, in one line (OPS-5). Of several processes that come to a file together one does so.
 */
export function prepareFormat(db: Database, clock: Clock): void {
  if (isBehind(readFormat(db))) {
    transact(db, () => {
      const format = readFormat(db);
      if (format === 'empty') db.exec(SCHEMA);
      else if (isBehind(format)) addStoredAt(db, clock);
    });
  }
  const format = readFormat(db);
  if (format === 'foreign') throw new Fault('misconfigured', `${db.name}: an SQLite file, but not a queue`);
  if (format !== FORMAT)
    throw new Fault(
      'misconfigured',
      `${db.name}: format ${format} is newer than ${FORMAT}, the newest that this build reads`,
    );
}

const isBehind = (format: Format): boolean => format === 'empty' || (format !== 'foreign' && format < FORMAT);

/**
 * From 1 to 2. When its messages were stored was not written down: they count from now. A process of the older build that has the file open
 * goes on storing, and what it stores counts from now too.
 */
function addStoredAt(db: Database, clock: Clock): void {
  const nowMs = new QueueClock(db, clock).tick();
  db.exec(`ALTER TABLE messages ADD COLUMN stored_at_ms INTEGER NOT NULL DEFAULT ${nowMs};
           PRAGMA user_version = ${FORMAT}`);
}

type Format = number | 'empty' | 'foreign';

function readFormat(db: Database): Format {
  const tables = db.prepare('SELECT count(*) FROM sqlite_schema').pluck().get();
  if (Number(tables) === 0) return 'empty';
  if (Number(db.pragma('application_id', { simple: true })) !== APPLICATION_ID) return 'foreign';
  return Number(db.pragma('user_version', { simple: true }));
}
