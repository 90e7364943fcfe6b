import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Fault } from '@tidemark/libs-kernel';
import { type Answer, send } from './answer.ts';

/** 404 for an unknown path (an empty segment matches no parameter), 405 with Allow for a known path with another method. */
export function answerUnknownRoutes(
  fastify: FastifyInstance,
  wordFault: (fault: Fault, request: FastifyRequest) => Answer,
): void {
  const known: { readonly path: RegExp; readonly methods: Set<string> }[] = [];
  fastify.addHook('onRoute', ({ url, method }) => {
    const path = new RegExp(`^${url.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/:[^/]+/g, '[^/]+')}$`);
    const entry = known.find((other) => other.path.source === path.source) ?? { path, methods: new Set<string>() };
    if (entry.methods.size === 0) known.push(entry);
    for (const one of [method].flat()) entry.methods.add(one);
  });
  const refusalOf = (request: FastifyRequest): Answer | undefined => {
    if (hasEmptySegment(request)) return wordFault(new Fault('not_found', 'not found'), request);
    if (!request.is404) return undefined;
    // The router too lets the path end there.
    const path = request.url.split(/[?#]/, 1)[0] ?? '';
    const methods = new Set(known.filter((entry) => entry.path.test(path)).flatMap((entry) => [...entry.methods]));
    if (methods.size === 0) return wordFault(new Fault('not_found', 'not found'), request);
    const allow = [...methods].sort().join(', ');
    const answer = wordFault(new Fault('not_found', `method not allowed; use ${allow}`), request);
    return { ...answer, status: 405, headers: { ...answer.headers, allow } };
  };
  // Nothing is given back: a reply would be taken for leave to go on once its connection is closed.
  fastify.addHook('onRequest', (request, reply, done) => {
    const refusal = refusalOf(request);
    if (refusal === undefined) done();
    else void send(reply, refusal);
  });
}

/** The router lets an empty segment be a parameter; for us it is another path. */
export function hasEmptySegment({ params }: FastifyRequest): boolean {
  const segments = params as Record<string, string | undefined>;
  for (const name in segments) if (!segments[name]) return true;
  return false;
}
