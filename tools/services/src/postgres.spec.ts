import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { serverTests, startedHere } from './testing.ts';

const postgresTest = serverTests('postgres');

async function connected(connectionString: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString });
  client.on('error', () => {});
  await client.connect();
  return client;
}

postgresTest('an advisory lock keeps a second transaction out until the first commits', async ({ endpoint }) => {
  const key = randomUUID();
  const lock = 'SELECT pg_advisory_xact_lock(hashtextextended($1, 0))';
  const tryLock = 'SELECT pg_try_advisory_xact_lock(hashtextextended($1, 0)) AS locked';
  const [first, second] = [await connected(endpoint), await connected(endpoint)];
  try {
    await first.query('BEGIN');
    await first.query(lock, [key]);
    expect((await second.query(tryLock, [key])).rows).toEqual([{ locked: false }]);
    await first.query('COMMIT');
    expect((await second.query(tryLock, [key])).rows).toEqual([{ locked: true }]);
  } finally {
    await Promise.all([first.end(), second.end()]);
  }
});

postgresTest('a committed row is there after kill -9 and restart', async (postgres) => {
  const client = await connected(postgres.endpoint);
  const settings = await client.query(`SELECT current_setting('fsync') AS fsync`);
  expect(settings.rows).toEqual([{ fsync: 'on' }]);
  const table = `services_${randomUUID().replaceAll('-', '')}`;
  await client.query(`CREATE TABLE ${table} (n bigint PRIMARY KEY)`);
  await client.query(`INSERT INTO ${table} VALUES (9007199254740993)`);
  if (startedHere('restart of Postgres', postgres)) {
    await postgres.server.crash();
    await postgres.server.restart();
  }
  await client.end().catch(() => {});

  const again = await connected(postgres.endpoint);
  expect((await again.query(`SELECT n FROM ${table}`)).rows).toEqual([{ n: '9007199254740993' }]);
  await again.query(`DROP TABLE ${table}`);
  await again.end();
});
