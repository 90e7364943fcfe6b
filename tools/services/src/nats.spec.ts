import { randomUUID } from 'node:crypto';
import { connect } from 'nats';
import { serverTests, startedHere } from './testing.ts';

const natsTest = serverTests('nats');

natsTest('an acked publish, and the memory of its id, survive kill -9 and restart', async (nats) => {
  const subject = `services.${randomUUID()}`;
  const stream = subject.replace('.', '_');
  const publish = async (msgID: string) => {
    const connection = await connect({ servers: nats.endpoint });
    try {
      return await connection.jetstream().publish(subject, 'hello', { msgID });
    } finally {
      await connection.close();
    }
  };
  const connection = await connect({ servers: nats.endpoint });
  const manager = await connection.jetstreamManager();
  await manager.streams.add({ name: stream, subjects: [subject] });
  await connection.close();

  expect(await publish('one')).toMatchObject({ seq: 1, duplicate: false });
  expect(await publish('one')).toMatchObject({ seq: 1, duplicate: true });
  if (!startedHere('restart of NATS', nats)) return;

  await nats.server.crash();
  await nats.server.restart();

  expect(await publish('one')).toMatchObject({ seq: 1, duplicate: true });
  expect(await publish('two')).toMatchObject({ seq: 2, duplicate: false });
});
