import { once } from 'node:events';
import { type AddressInfo, type Socket, connect, createServer } from 'node:net';

/** Stands before a server and, when told, lets the next words of clients through and drops every answer, until the connection is cut. */
export async function cutProxy(target: string) {
  const { hostname, port } = new URL(target);
  const open = new Set<Socket>();
  let losing = false;
  let cuts = 0;

  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    for (const socket of [client, upstream]) {
      open.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        open.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    client.pipe(upstream);
    upstream.on('data', (answer) => {
      if (!losing) return void client.write(answer);
      // One answer was on its way, for certain: now the client sees the connection end.
      losing = false;
      cuts++;
      client.destroy();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  return {
    endpoint: `nats://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** The next answer is lost, and the connection with it. */
    loseAnswers: () => void (losing = true),
    get cuts() {
      return cuts;
    },
    [Symbol.asyncDispose]: async () => {
      for (const socket of open) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
