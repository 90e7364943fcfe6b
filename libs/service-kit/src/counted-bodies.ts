import type { IncomingMessage } from 'node:http';
import { type Readable, Transform } from 'node:stream';
import { Fault } from '@tidemark/libs-kernel';
import type { BodyRules } from './compressed-bodies.ts';

/**
 * A body in chunks, whose length nobody told, with each piece counted before it is handed on. Errors are Faults. The request itself is left
 * open, for its answer.
 */
export function counted(raw: IncomingMessage, { bytesMax, take, tooLarge }: BodyRules): Readable {
  let bytes = 0;
  const pieces = new Transform({
    transform(piece: Buffer, _encoding, done) {
      try {
        bytes += piece.length;
        if (bytes > bytesMax) throw tooLarge();
        take(piece.length);
        done(null, piece);
      } catch (thrown) {
        done(thrown as Fault);
      }
    },
  });
  const cut = () => raw.complete || pieces.destroy(new Fault('malformed', 'invalid request body'));
  const refused = (thrown: Error) => void (thrown instanceof Fault && pieces.destroy(thrown));
  raw.once('close', cut).on('error', refused);
  pieces.once('close', () => raw.off('close', cut).off('error', refused));
  // Whoever reads hears of it; before that nobody does.
  pieces.on('error', () => {});
  return raw.pipe(pieces);
}
