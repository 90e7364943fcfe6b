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
  const hosts = hostsOf(raw);
  if (hosts !== 1 && (hosts > 1 || raw.httpVersion === '1.1')) return refuse('malformed', 'not one Host header');
  const { expect, 'transfer-encoding': coding } = headers;
  if (raw.httpVersion === '1.1' && expect !== undefined && expect.toLowerCase() !== '100-continue') {
    return refuse('unsupported', 'the header Expect asks for something that is not offered', 417);
  }
  if (coding !== undefined && coding.toLowerCase() !== 'chunked') {
    return refuse('unsupported', 'no Transfer-Encoding but chunked is offered');
  }
  const query = url.indexOf('?');
  if (query < 0 || isPercentEncoded(url.slice(query + 1))) return undefined;
  return wordFault(new Fault('malformed', 'the query is not percent-encoded UTF-8'));
}

function hostsOf({ rawHeaders }: FastifyRequest['raw']): number {
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) if (rawHeaders[i]?.toLowerCase() === 'host') hosts++;
  return hosts;
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
