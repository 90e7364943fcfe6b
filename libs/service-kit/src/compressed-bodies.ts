import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import * as zlib from 'node:zlib';
import { Fault } from '@tidemark/libs-kernel';

/** What zlib's decoders have in common: where they stand in what they were given. */
type Decoder = ReturnType<typeof zlib.createGunzip>;

const CHUNK_BYTES = 64 * 1024;
/** A zstd frame names the memory that its reader needs; RFC 9659 allows 8 MiB over HTTP. */
const ZSTD_WINDOW_LOG_MAX = 23;

const gunzip = (): Decoder => zlib.createGunzip({ chunkSize: CHUNK_BYTES });

/** By content coding; zstd where Node has it. */
const DECODERS: ReadonlyMap<string, () => Decoder> = new Map([
  ['gzip', gunzip],
  ['x-gzip', gunzip],
  ['br', () => zlib.createBrotliDecompress({ chunkSize: CHUNK_BYTES })],
  ...(typeof zlib.createZstdDecompress === 'function' ? [['zstd', unzstd] as const] : []),
]);

function unzstd(): Decoder {
  const params = { [zlib.constants.ZSTD_d_windowLogMax]: ZSTD_WINDOW_LOG_MAX };
  return zlib.createZstdDecompress({ chunkSize: CHUNK_BYTES, params });
}

export const BODY_CODINGS: readonly string[] = [...DECODERS.keys()].filter((coding) => coding !== 'x-gzip');

export const isBodyCoding = (coding: string): boolean => DECODERS.has(coding.toLowerCase());

export interface BodyRules {
  readonly bytesMax: number;
  /** Called for each piece before it is handed on; may throw. */
  readonly take: (bytes: number) => void;
  /** What is said of a body that is larger. */
  readonly tooLarge: () => Fault;
}

/**
 * A compressed body as its content, inflated piece by piece as it is read: no more than a piece is held here, and nothing is inflated
 * beyond the bound. Errors are Faults: a body that is not of its coding, is cut, or goes on after its end is `malformed`. The request
 * itself is left open, for its answer.
 */
export function inflated(raw: IncomingMessage, coding: string, rules: BodyRules): Readable {
  const decoder = DECODERS.get(coding.toLowerCase())!();
  let receivedBytes = 0;
  raw.on('data', (chunk: Buffer) => (receivedBytes += chunk.length));
  const cut = () => raw.complete || decoder.destroy(corrupt(coding));
  const refused = (thrown: Error) => void (thrown instanceof Fault && decoder.destroy(thrown));
  raw.once('close', cut).on('error', refused);
  // Whoever reads hears of it; before that nobody does.
  decoder.on('error', () => {});
  raw.pipe(decoder);
  /** A decoder ends where its format does, and passes over what follows. */
  const wasAll = () => raw.readableEnded && decoder.bytesWritten === receivedBytes;
  const pieces = Readable.from(piecesOf(decoder, coding, wasAll, rules), { objectMode: false });
  pieces.once('close', () => {
    raw.off('close', cut).off('error', refused);
    raw.unpipe(decoder);
    decoder.destroy();
  });
  // By this Fastify compares the length that the head tells.
  return Object.defineProperty(pieces, 'receivedEncodedLength', { get: () => receivedBytes });
}

async function* piecesOf(
  decoder: Decoder,
  coding: string,
  wasAll: () => boolean,
  { bytesMax, take, tooLarge }: BodyRules,
): AsyncGenerator<Buffer> {
  try {
    let bytes = 0;
    for await (const piece of decoder as AsyncIterable<Buffer>) {
      bytes += piece.length;
      if (bytes > bytesMax) throw tooLarge();
      take(piece.length);
      yield piece;
    }
  } catch (thrown) {
    throw thrown instanceof Fault ? thrown : corrupt(coding);
  }
  if (!wasAll()) throw corrupt(coding);
}

const corrupt = (coding: string): Fault => new Fault('malformed', `invalid request body: not ${coding}, or cut short`);
