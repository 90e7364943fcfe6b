// The reader of the bare way, in a process of its own: hears of a row through NATS and selects it. Arguments: file, server.
import Sqlite from 'better-sqlite3';
import { connect } from 'nats';
import { nowMs } from './delivery.ts';

const [, , file = '', servers = ''] = process.argv;
const select = new Sqlite(file).prepare<[number], { seq: number; value: string }>(
  'SELECT seq, value FROM ops WHERE seq > ? ORDER BY seq',
);
let last = 0;

const nats = await connect({ servers });
nats.subscribe('appended', {
  callback: () => {
    const rows = select.all(last);
    last = rows.at(-1)?.seq ?? last;
    process.send?.({ ids: rows.map(({ value }) => value), atMs: nowMs() });
  },
});
await nats.flush();
process.send?.('listening');
