import type { JetStreamClient, JetStreamPublishOptions, PubAck } from 'nats';

/** The server has noted the id, and knows of no message by it: the first copy is under way, or was refused. */
export class IdNotSettled extends Error {
  constructor() {
    super('an earlier copy of this message has no outcome yet');
  }
}

/** Sends under an id. An answer that names no place is none: taken for a duplicate, the message would be lost. */
export async function sendOnce(
  client: JetStreamClient,
  subject: string,
  body: Uint8Array,
  options: Partial<JetStreamPublishOptions>,
): Promise<PubAck> {
  const ack = await client.publish(subject, body, options);
  if (ack.seq === 0) throw new IdNotSettled();
  return ack;
}
