import type { FastifyRequest } from 'fastify';
import { Fault, type FaultCode } from '@tidemark/libs-kernel';
import type { Answer } from './answer.ts';

/** The refusal of a request whose head Node lets pass although it says something that we cannot read or do (OPS-6). */
export function refuseUnreadable(
  { raw, url, headers }: FastifyRequest,
  wordFault: (fault: Fault) => Answer,
): Answer | undefined {
  const refuse = (code: FaultCode, why: string, status?: number) => {
    const answer = wordFault(new Fault(code, why));
    return { ...answer, status: status ?? answer.status, headers: { ...answer.headers, connection: 'close' } };
  };
  if (raw.httpVersionMajor !== 1) return refuse('unsupported', 'only HTTP/1.1 and HTTP/1.0 are offered', 505);
  const hosts = raw.rawHeaders.filter((text, i) => i % 2 === 0 && text.toLowerCase() === 'host').length;
  if (hosts !== 1 && (hosts > 1 || raw.httpVersion === '1.1')) return refuse('malformed', 'not one Host header');
  if (raw.httpVersion === '1.1' && !['100-continue', undefined].includes(headers.expect?.toLowerCase())) {
    return refuse('unsupported', 'the header Expect asks for something that is not offered', 417);
  }
  if (!['chunked', undefined].includes(headers['transfer-encoding']?.toLowerCase())) {
    return refuse('unsupported', 'no Transfer-Encoding but chunked is offered');
  }
  const query = url.indexOf('?');
  if (query < 0 || isPercentEncoded(url.slice(query + 1))) return undefined;
  return wordFault(new Fault('malformed', 'the query is not percent-encoded UTF-8'));
}

/** Why the router could not read a path, without repeating it. */
export function pathFault(code: string | undefined): Fault {
  if (code === 'FST_ERR_MAX_PARAM_LENGTH') return new Fault('malformed', 'a segment of the path is too long');
  return new Fault('malformed', 'the path is not percent-encoded UTF-8');
}

function isPercentEncoded(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}
