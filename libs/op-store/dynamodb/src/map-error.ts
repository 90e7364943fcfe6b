import { asFault, Fault, type FaultCode } from '@tidemark/libs-kernel';

/** What a thrown thing says of a write: `throttled` and `refused` are certain that this attempt did nothing. */
export type Answer = 'throttled' | 'refused' | 'none';

interface Meaning {
  readonly code: FaultCode;
  readonly what: string;
  readonly answer: Answer;
}

const RETRY_AFTER_MS = 1000;

const throttled: Meaning = { code: 'unavailable', what: 'takes no more now', answer: 'throttled' };
const absent: Meaning = { code: 'misconfigured', what: 'is not there', answer: 'refused' };
const denied: Meaning = { code: 'misconfigured', what: 'does not allow this', answer: 'refused' };
const strange: Meaning = { code: 'misconfigured', what: 'does not know these credentials', answer: 'refused' };
const unfit: Meaning = { code: 'misconfigured', what: 'does not take what was sent', answer: 'refused' };
const defect: Meaning = { code: 'internal', what: 'refused what was sent', answer: 'refused' };
const silent: Meaning = { code: 'unavailable', what: 'does not answer', answer: 'none' };

/** By the exception's name. */
const NAMES: Readonly<Record<string, Meaning>> = {
  ThrottlingException: throttled,
  Throttling: throttled,
  ProvisionedThroughputExceededException: throttled,
  RequestLimitExceeded: throttled,
  RequestThrottled: throttled,
  LimitExceededException: throttled,
  TransactionConflictException: { ...throttled, what: 'is busy with a transaction' },
  // The first attempt of the same transaction still runs.
  TransactionInProgressException: { ...silent, what: 'is busy with this very transaction' },
  ResourceNotFoundException: absent,
  AccessDeniedException: denied,
  UnrecognizedClientException: strange,
  InvalidSignatureException: strange,
  IncompleteSignatureException: strange,
  MissingAuthenticationTokenException: strange,
  ExpiredTokenException: strange,
  CredentialsProviderError: strange,
  ValidationException: unfit,
  IdempotentParameterMismatchException: defect,
  TransactionCanceledException: defect,
};

/**
 * What DynamoDB, the SDK or the network said of a read, or of a write that may be repeated at will: a Fault that names the table.
 * `unavailable` also when nobody answered.
 */
export function mapError(thrown: unknown, table: string): Fault {
  if (thrown instanceof Fault) return thrown;
  const meaning = meaningOf(thrown);
  if (meaning === null) return asFault(thrown);
  return faultOf(meaning.code, table, meaning.what, thrown);
}

/** The same of a write: its outcome is `unknown` unless it is certain that none of its attempts did anything. */
export function mapWriteError(thrown: unknown, table: string): Fault {
  const fault = mapError(thrown, table);
  if (thrown instanceof Fault || isCertain(thrown)) return fault;
  const { code, message, retryAfterMs } = fault;
  const detail = { cause: thrown, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
  return new Fault(code, `${message}; the write may be stored`, { ...detail, outcome: 'unknown' });
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

/** What is stored cannot be read. */
export function isCorrupt(thrown: unknown): thrown is Fault {
  return thrown instanceof Fault && thrown.code === 'corrupt';
}

export function nameOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.name : '';
}

/** null: it does not come from the SDK. */
function meaningOf(thrown: unknown): Meaning | null {
  const named = NAMES[nameOf(thrown)];
  if (named !== undefined) return named;
  const { $metadata, code } = (thrown ?? {}) as { readonly $metadata?: Metadata; readonly code?: unknown };
  const status = $metadata?.httpStatusCode;
  if (status !== undefined && status >= 400 && status < 500) return defect;
  const isSilence = $metadata !== undefined || typeof code === 'string' || /Abort|Timeout/.test(nameOf(thrown));
  return isSilence ? silent : null;
}

interface Metadata {
  readonly httpStatusCode?: number;
  readonly attempts?: number;
}

function attemptsOf(thrown: unknown): number {
  return (thrown as { readonly $metadata?: Metadata } | undefined)?.$metadata?.attempts ?? 1;
}

function faultOf(code: FaultCode, table: string, what: string, cause: unknown): Fault {
  const said = cause instanceof Error ? `${cause.name}: ${cause.message}`.replaceAll('\n', ' ') : String(cause);
  const detail = code === 'unavailable' ? { cause, retryAfterMs: RETRY_AFTER_MS } : { cause };
  const outcome = code === 'internal' ? { outcome: 'not-done' as const } : {};
  return new Fault(code, `the DynamoDB table "${table}" ${what} (${said})`, { ...detail, ...outcome });
}
