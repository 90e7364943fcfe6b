import { Fault, type FaultCode } from '@tidemark/libs-kernel';
import type { PublishOutcome } from '@tidemark/libs-broker-contract';
import { ErrorCode, NatsError } from 'nats';
import { IdNotSettled } from './send-once.ts';

/** Nobody answered within the patience that there was, however often it was asked. */
export class NoAnswer extends Error {}

/** The connection broke while a request was under way. */
export class ConnectionLost extends Error {}

/** Numbers by which the server names its refusals. */
export const REFUSED = {
  unavailable: 10008,
  consumerNotFound: 10014,
  consumerExists: 10148,
  noMessage: 10037,
  streamNotFound: 10059,
  streamExists: 10058,
  wrongLastSeq: 10071,
  notDeleted: 10057,
  storeFailed: 10077,
} as const;

/** Of `storeFailed`: its text alone says whether the queue is full or the disk is broken. */
const FULL = /^maximum (bytes|messages|messages per subject) exceeded$/;

const BUSY = new Set<number>([10004, 10005, 10007, 10008, 10009, 10010, 10023, 10039, 10076, 10118, 10119]);
const NO_SPACE = new Set<number>([10023, 10028, 10047]);
const WRONG_TOPOLOGY = new Set<number>([10012, 10039, 10052, 10060, 10065, 10074]);

const WRONG_ACCESS = new Set<string>([
  ErrorCode.AuthorizationViolation,
  ErrorCode.AuthenticationExpired,
  ErrorCode.AccountExpired,
  ErrorCode.BadAuthentication,
  ErrorCode.BadCreds,
  ErrorCode.PermissionsViolation,
  ErrorCode.ServerOptionNotAvailable,
  ErrorCode.InvalidOption,
]);

const SILENT = new Set<string>([
  ErrorCode.Timeout,
  ErrorCode.NoResponders,
  ErrorCode.Disconnect,
  ErrorCode.ConnectionClosed,
  ErrorCode.ConnectionDraining,
  ErrorCode.ConnectionRefused,
  ErrorCode.ConnectionTimeout,
  ErrorCode.RequestError,
]);

const SILENCES = [NoAnswer, ConnectionLost, IdNotSettled];

/** No answer, or none that says anything: the request may have been done. To be asked again, under the same id. */
export function isSilence(thrown: unknown): boolean {
  if (SILENCES.some((silence) => thrown instanceof silence)) return true;
  if (!(thrown instanceof NatsError)) return false;
  return thrown.api_error ? thrown.api_error.err_code === REFUSED.unavailable : SILENT.has(thrown.code);
}

export function isNobodyThere(thrown: unknown): boolean {
  return thrown instanceof NatsError && !thrown.api_error && thrown.code === ErrorCode.NoResponders;
}

export function refusalNumber(thrown: unknown): number | undefined {
  return thrown instanceof NatsError ? thrown.api_error?.err_code : undefined;
}

/** How a publish ended that was sent `sends` times and threw at last. */
export function outcomeOf(thrown: unknown, sends: number): PublishOutcome {
  const detail = textOf(thrown);
  if (isSilence(thrown)) return { kind: 'unavailable', detail };
  if (thrown instanceof Fault) return { kind: thrown.code === 'unavailable' ? 'unavailable' : 'unknown', detail };
  const number = refusalNumber(thrown);
  if (number === undefined) return { kind: 'unknown', detail };
  // An earlier copy that nobody answered may still be on its way.
  if (number === REFUSED.storeFailed && FULL.test(descriptionOf(thrown)))
    return { kind: sends === 1 ? 'full' : 'unavailable', detail };
  return { kind: BUSY.has(number) ? 'unavailable' : 'unknown', detail };
}

/**
 * | what failed                                        | fault                        |
 * |----------------------------------------------------|------------------------------|
 * | nobody answered, no leader, no quorum, not reached | `unavailable`, outcome unknown |
 * | rights, names, a stream that is set up otherwise   | `misconfigured`              |
 * | no such queue or consumer                          | `not_found`                  |
 * | budgets reserve more than the server has           | `disk_full`                  |
 * | anything else                                      | `internal`                   |
 */
export function faultOf(thrown: unknown): Fault {
  if (thrown instanceof Fault) return thrown;
  const code = faultCodeOf(thrown);
  const outcome = isSilence(thrown) || code === 'internal' ? 'unknown' : 'not-done';
  return new Fault(code, `broker: ${textOf(thrown)}`, { outcome, cause: thrown });
}

/** For the end of a promise: `.catch(throwFault)`. */
export function throwFault(thrown: unknown): never {
  throw faultOf(thrown);
}

function faultCodeOf(thrown: unknown): FaultCode {
  if (isSilence(thrown)) return 'unavailable';
  if (isDistrust(thrown)) return 'misconfigured';
  if (!(thrown instanceof NatsError)) return 'internal';
  const number = refusalNumber(thrown);
  if (number === undefined) return WRONG_ACCESS.has(thrown.code) ? 'misconfigured' : 'unavailable';
  if (number === REFUSED.streamNotFound || number === REFUSED.consumerNotFound) return 'not_found';
  if (NO_SPACE.has(number)) return 'disk_full';
  if (WRONG_TOPOLOGY.has(number)) return 'misconfigured';
  return BUSY.has(number) ? 'unavailable' : 'internal';
}

/** A certificate that is not trusted, by one side or the other. */
function isDistrust(thrown: unknown): boolean {
  const { code = '' } = thrown as { readonly code?: unknown };
  return typeof code === 'string' && /CERT|TLS|SSL|SIGNATURE/.test(code);
}

function textOf(thrown: unknown): string {
  if (!(thrown instanceof NatsError)) return thrown instanceof Error ? thrown.message : String(thrown);
  const number = refusalNumber(thrown);
  if (number !== undefined) return `${descriptionOf(thrown)} (${number})`;
  if (thrown.code === ErrorCode.Timeout) return 'no answer in time';
  if (thrown.code === ErrorCode.NoResponders) return 'nobody is there to answer';
  return thrown.message.toLowerCase().replaceAll('_', ' ');
}

function descriptionOf(thrown: unknown): string {
  return (thrown instanceof NatsError && thrown.api_error?.description) || '';
}
