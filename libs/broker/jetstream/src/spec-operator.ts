import { connect } from 'nats';

/** Somebody who makes and deletes streams beside us. */
export async function operatorOf(servers: string | readonly string[]) {
  const connection = await connect({ servers: typeof servers === 'string' ? servers : [...servers] });
  const { streams, consumers } = await connection.jetstreamManager();
  return { connection, streams, consumers, [Symbol.asyncDispose]: () => connection.close() };
}
