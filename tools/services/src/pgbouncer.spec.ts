import pg from 'pg';
import { pooledTests } from './testing.ts';

const pooledTest = pooledTests();

pooledTest(
  'the pooler hands each transaction another server connection, and what is set stays behind',
  async (pooler) => {
    const clients = [1, 2].map(() => new pg.Client({ connectionString: pooler }));
    const [first, second] = clients as [pg.Client, pg.Client];
    await Promise.all(clients.map((client) => client.connect()));
    const backend = async (client: pg.Client) => (await client.query('SELECT pg_backend_pid() AS pid')).rows[0].pid;
    await first.query('BEGIN');
    const pid = await backend(first);
    expect(await backend(second)).not.toBe(pid);
    await first.query('COMMIT');
    await second.query('BEGIN');
    expect(await backend(second)).toBe(pid);
    await Promise.all(clients.map((client) => client.end()));
  },
);
