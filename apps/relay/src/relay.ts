import { PRESENCE_BODY_BYTES_MAX, PUSH_BODY_BYTES_MAX, type Fault } from '@tidemark/libs-kernel';
import {
  type Answer,
  type ServiceDefinition,
  brokerRule,
  faultAnswer,
  regionRule,
  toldText,
} from '@tidemark/libs-service-kit';
import type { FastifyRequest } from 'fastify';
import { relayAccess } from './access.ts';
import { databaseRule, relaySettings } from './config.ts';
import { openRelay } from './wiring.ts';

export const relay: ServiceDefinition<typeof relaySettings> = {
  name: 'relay',
  summary: 'append-only op logs over HTTP, one gap-free order per stream',
  prefix: 'RELAY_',
  settings: relaySettings,
  rules: [databaseRule, regionRule('RELAY_STORE'), brokerRule],
  addressSetting: 'RELAY_ADDR',
  http: {
    bodyBytesMax: PUSH_BODY_BYTES_MAX,
    routeBodyBytesMax: { '/streams/:stream/machines': PRESENCE_BODY_BYTES_MAX },
    admit: admitJson,
    faultAnswer: relayFault,
  },
  access: relayAccess,
  open: openRelay,
};

const JSON_TYPE = /^application\/(?:[\w!#$%&'*+.^`|~-]+\+)?json[ \t]*(?:;.*)?$/i;

/** A POST of the wire routes must say that it sends JSON; judged before its body is read. Those under /v1 take none. */
function admitJson(request: FastifyRequest): Answer | undefined {
  if (request.method !== 'POST' || request.url.startsWith('/v1/')) return undefined;
  if (JSON_TYPE.test(request.headers['content-type']?.trim() ?? '')) return undefined;
  return { status: 415, body: 'Content-Type must be application/json', contentType: TEXT };
}

const TEXT = 'text/plain; charset=utf-8';

/** On the wire routes a refusal is plain text (a client shows it to a person); 404 and 405 have no body. */
function relayFault(fault: Fault, request: FastifyRequest): Answer {
  const answer = faultAnswer(fault);
  if (request.url.startsWith('/v1/')) return answer;
  if (answer.status === 404 || answer.status === 500) return { ...answer, body: '' };
  return { ...answer, body: toldText(fault), contentType: TEXT };
}
