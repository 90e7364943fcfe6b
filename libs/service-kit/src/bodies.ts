import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Fault } from '@tidemark/libs-kernel';
import { counted } from './counted-bodies.ts';
import { BODY_CODINGS, inflated, isBodyCoding } from './compressed-bodies.ts';
import { type HttpLoad, bodyTooLarge } from './http-load.ts';

/** How much of a body that nobody wants may still arrive, and how long, so that its sender gets to read the refusal. */
interface Linger {
  readonly bytesMax: number;
  readonly msMax: number;
}

/** Fastify remembers which types an expression matches, and reads one anew for each request where only '*' does. */
const EVERY_TYPE = /^/;

export function readBodiesAsBytes(fastify: FastifyInstance): void {
  fastify.removeAllContentTypeParsers();
  for (const type of [EVERY_TYPE, '*']) {
    fastify.addContentTypeParser(type, { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  }
}

/** The body of a request as bytes; empty when there is none. */
export function bodyOf(request: FastifyRequest): Uint8Array {
  return request.body instanceof Uint8Array ? request.body : new Uint8Array(0);
}

/** The coding that a body is said to have; null for none. A header that is sent twice names two at once, and none that is known. */
export function codingOf({ headers }: Pick<FastifyRequest, 'headers'>): string | null {
  const coding = headers['content-encoding'] ?? 'identity';
  return coding.toLowerCase() === 'identity' ? null : coding;
}

/** A body in a coding that is not taken is refused, not taken for what it would be without the label. */
export function refuseEncoded(request: FastifyRequest, reply: FastifyReply, compressed: boolean): void {
  const coding = codingOf(request);
  if (coding === null || (compressed && isBodyCoding(coding))) return;
  const taken = compressed ? BODY_CODINGS : [];
  reply.header('accept-encoding', [...taken, 'identity'].join(', '));
  const how = compressed ? `, or as ${taken.join(' or ')}` : '';
  const label = JSON.stringify(coding.slice(0, 128));
  throw new Fault('unsupported', `Content-Encoding ${label} is not supported; send the body as it is${how}`);
}

/** A body in a coding is read as its content. Of that, and of a body in chunks, bytes are set aside as they come, bounded like those of any body. */
export function countBodies(fastify: FastifyInstance, load: HttpLoad): void {
  fastify.decorateRequest('heldBytes', undefined);
  fastify.addHook('onClose', async () => load.close());
  fastify.addHook('preParsing', (request, reply, payload, done) => {
    load.awaitBody(request, reply);
    const coding = codingOf(request);
    if (coding === null && request.headers['transfer-encoding'] === undefined) return done(null, payload);
    const rules = {
      bytesMax: request.routeOptions.bodyLimit,
      take: (bytes: number) => load.holdBody(request, reply, bytes),
      tooLarge: () => bodyTooLarge(request),
    };
    done(null, coding === null ? counted(request.raw, rules) : inflated(request.raw, coding, rules));
  });
}

/** Of those that wait for it: which were asked. */
const asked = new WeakSet<IncomingMessage>();

/** Tells a sender that waits for it (`Expect: 100-continue`) that its body is wanted. */
export function askForBody({ raw }: FastifyRequest, reply: FastifyReply): void {
  if (!waitsToSend(raw)) return;
  reply.raw.writeContinue();
  asked.add(raw);
}

/**
 * The answer to a request whose body has not arrived whole: it is sent at once, and the connection closes. What still arrives is read and
 * dropped for a while before that, because closing on unread bytes is a reset, which may take the answer with it.
 */
export function answerBeforeBody(
  { raw, method }: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
  linger: Linger,
): unknown {
  if (raw.complete || raw.destroyed || raw.httpVersionMajor !== 1 || method === 'HEAD') return payload;
  reply.header('connection', 'close');
  if ((waitsToSend(raw) && !asked.has(raw)) || payload instanceof Readable) return payload;
  const body = Buffer.from((payload as string | Buffer | null | undefined) ?? '');
  reply.header('content-length', body.length);
  return Readable.from(lingering(raw, reply.raw, body, linger), { objectMode: false });
}

async function* lingering(raw: IncomingMessage, response: ServerResponse, body: Buffer, linger: Linger) {
  response.flushHeaders();
  if (body.length > 0) yield body;
  await dropped(raw, linger);
}

/** Resolves when the rest of the body has arrived, or it is too much, too late, or cut. */
function dropped(raw: IncomingMessage, { bytesMax, msMax }: Linger): Promise<void> {
  return new Promise((resolve) => {
    let bytes = 0;
    const late = setTimeout(resolve, msMax);
    const done = () => {
      clearTimeout(late);
      resolve();
    };
    raw.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > bytesMax) done();
    });
    raw.once('end', done).once('close', done).resume();
    raw.socket.once('end', done);
  });
}

function waitsToSend({ headers, httpVersionMinor }: IncomingMessage): boolean {
  return httpVersionMinor === 1 && headers.expect?.toLowerCase() === '100-continue';
}
