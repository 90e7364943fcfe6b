/** A server's program cannot be had on this machine; the message says why and what would help. */
export class ServerAbsent extends Error {
  override readonly name = 'ServerAbsent';
}
