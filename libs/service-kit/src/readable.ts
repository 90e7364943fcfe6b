import type { FastifyRequest } from 'fastify';
import { Fault } from '@tidemark/libs-kernel';
import type { Answer } from './answer.ts';

/** The refusal of a request whose head Node lets pass although it says something that we cannot read or do (OPS-6). */
export function refuseUnreadable(
  { raw, url }: FastifyRequest,
  wordFault: (fault: Fault) => Answer,
): Answer | undefined {
  const { host, expect } = raw.headers;
  if (raw.httpVersion === '1.1' && host === undefined) {
    return closing(wordFault(new Fault('malformed', 'no Host header')));
  }
  if (raw.httpVersion === '1.1' && expect !== undefined && expect.toLowerCase() !== '100-continue') {
    const fault = new Fault('unsupported', 'the header Expect asks for something that is not offered');
    return closing({ ...wordFault(fault), status: 417 });
  }
  const query = url.indexOf('?');
  if (query < 0 || isPercentEncoded(url.slice(query + 1))) return undefined;
  return wordFault(new Fault('malformed', 'the query is not percent-encoded UTF-8'));
}

function closing(answer: Answer): Answer {
  return { ...answer, headers: { ...answer.headers, connection: 'close' } };
}

function isPercentEncoded(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}
