import type { FaultCode } from '@tidemark/libs-kernel';

/** What a thrown thing says of a write: `throttled` and `refused` are certain that this attempt did nothing. */
export type Answer = 'throttled' | 'refused' | 'none';

/** What a thrown thing means, in the words that follow the name of what was asked. */
export interface Meaning {
  readonly code: FaultCode;
  readonly what: string;
  readonly answer: Answer;
}

const throttled: Meaning = { code: 'unavailable', what: 'takes no more now', answer: 'throttled' };
const absent: Meaning = { code: 'misconfigured', what: 'is not there', answer: 'refused' };
const denied: Meaning = { code: 'misconfigured', what: 'does not allow this', answer: 'refused' };
const strange: Meaning = { code: 'misconfigured', what: 'does not know these credentials', answer: 'refused' };
const defect: Meaning = { code: 'internal', what: 'refused what was sent', answer: 'refused' };
const failing: Meaning = { code: 'unavailable', what: 'cannot do it now', answer: 'none' };

export const SILENT: Meaning = { code: 'unavailable', what: 'does not answer', answer: 'none' };
export const UNFIT: Meaning = { code: 'misconfigured', what: 'does not take what was sent', answer: 'refused' };

/** By the exception's name. */
const NAMES: Readonly<Record<string, Meaning>> = {
  ProvisionedThroughputExceededException: throttled,
  ThrottlingException: throttled,
  ThrottledException: throttled,
  Throttling: throttled,
  RequestLimitExceeded: throttled,
  RequestThrottled: throttled,
  RequestThrottledException: throttled,
  TooManyRequestsException: throttled,
  LimitExceededException: throttled,
  BandwidthLimitExceeded: throttled,
  SlowDown: throttled,
  TransactionConflictException: { ...throttled, what: 'is busy with a transaction' },
  // Of a table in several regions: refused, because another region writes the item.
  ReplicatedWriteConflictException: { ...throttled, what: failing.what },
  // The first attempt of the same transaction still runs.
  TransactionInProgressException: { ...SILENT, what: 'is busy with this very transaction' },
  InternalServerError: failing,
  ServiceUnavailable: failing,
  RequestTimeout: SILENT,
  RequestTimeoutException: SILENT,
  ResourceNotFoundException: absent,
  AccessDeniedException: denied,
  UnrecognizedClientException: strange,
  InvalidSignatureException: strange,
  IncompleteSignatureException: strange,
  MissingAuthenticationTokenException: strange,
  ExpiredTokenException: strange,
  RequestExpired: strange,
  RequestTimeTooSkewed: strange,
  CredentialsProviderError: strange,
  ValidationException: UNFIT,
  IdempotentParameterMismatchException: defect,
  TransactionCanceledException: defect,
};

/** null: it comes neither from DynamoDB, nor from the SDK or the network. */
export function meaningOf(thrown: unknown): Meaning | null {
  const named = NAMES[nameOf(thrown)];
  if (named !== undefined) return named;
  const { $metadata, $fault, code } = (thrown ?? {}) as SdkError;
  const status = $metadata?.httpStatusCode;
  if ($fault === 'server' || (status !== undefined && status >= 500)) return failing;
  if (status !== undefined && status >= 400) return defect;
  // Errors of sockets have a code; an answer that cannot be read has metadata only.
  const isSilence = $metadata !== undefined || typeof code === 'string' || /Abort|Timeout/.test(nameOf(thrown));
  return isSilence ? SILENT : null;
}

/** What the last attempt of a write was answered. */
export function answerOf(thrown: unknown): Answer {
  return meaningOf(thrown)?.answer ?? 'none';
}

/**
 * Whether nothing of the write is stored, nor will be. An attempt before the last one, which the SDK repeated by itself because nobody
 * answered it, may still arrive, whatever was said of the last.
 */
export function isCertain(thrown: unknown): boolean {
  return answerOf(thrown) !== 'none' && attemptsOf(thrown) <= 1;
}

export function nameOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.name : '';
}

interface SdkError {
  readonly $metadata?: { readonly httpStatusCode?: number; readonly attempts?: number };
  readonly $fault?: string;
  readonly code?: unknown;
}

function attemptsOf(thrown: unknown): number {
  return (thrown as SdkError | undefined)?.$metadata?.attempts ?? 1;
}
