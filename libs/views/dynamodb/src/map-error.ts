import { asFault, Fault, type FaultCode } from '@tidemark/libs-kernel';

interface Meaning {
  readonly code: FaultCode;
  readonly what: string;
  /** Whether it is certain that this attempt did nothing. */
  readonly isRefusal: boolean;
}

const RETRY_AFTER_MS = 1000;

const busy: Meaning = { code: 'unavailable', what: 'takes no more now', isRefusal: true };
const absent: Meaning = { code: 'misconfigured', what: 'is not there', isRefusal: true };
const denied: Meaning = { code: 'misconfigured', what: 'does not allow this', isRefusal: true };
const strange: Meaning = { code: 'misconfigured', what: 'does not know these credentials', isRefusal: true };
const unfit: Meaning = { code: 'misconfigured', what: 'does not take what was sent', isRefusal: true };
const defect: Meaning = { code: 'internal', what: 'refused what was sent', isRefusal: true };
const silent: Meaning = { code: 'unavailable', what: 'does not answer', isRefusal: false };

/** By the exception's name. */
const NAMES: Readonly<Record<string, Meaning>> = {
  ThrottlingException: busy,
  Throttling: busy,
  ProvisionedThroughputExceededException: busy,
  RequestLimitExceeded: busy,
  RequestThrottled: busy,
  LimitExceededException: busy,
  TransactionConflictException: { ...busy, what: 'is busy with a transaction of somebody else' },
  ResourceNotFoundException: absent,
  AccessDeniedException: denied,
  UnrecognizedClientException: strange,
  InvalidSignatureException: strange,
  IncompleteSignatureException: strange,
  MissingAuthenticationTokenException: strange,
  ExpiredTokenException: strange,
  CredentialsProviderError: strange,
  ValidationException: unfit,
};

/** What DynamoDB, the SDK or the network said of a read: a Fault that names the table. `unavailable` also when nobody answered. */
export function mapError(thrown: unknown, table: string): Fault {
  if (thrown instanceof Fault) return thrown;
  const meaning = meaningOf(thrown);
  return meaning === null ? asFault(thrown) : faultOf(meaning.code, table, meaning.what, thrown);
}

/**
 * The same of a write: `unknown_outcome` unless it is certain that none of its attempts did anything. An attempt before the last one, which
 * the SDK repeated by itself because nobody answered it, may still arrive, whatever was said of the last.
 */
export function mapWriteError(thrown: unknown, table: string): Fault {
  const isCertain = (meaningOf(thrown)?.isRefusal ?? false) && attemptsOf(thrown) <= 1;
  if (thrown instanceof Fault || isCertain) return mapError(thrown, table);
  return faultOf('unknown_outcome', table, 'did not answer a write, which may be stored', thrown);
}

/** The item would outgrow DynamoDB's bound: nothing of the write is stored, nor will be. */
export function isTooLarge(thrown: unknown): boolean {
  return nameOf(thrown) === 'ValidationException' && /item size/i.test((thrown as Error).message);
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
  const isBusy = code === 'unavailable' || code === 'unknown_outcome';
  const detail = isBusy ? { cause, retryAfterMs: RETRY_AFTER_MS } : { cause };
  return new Fault(code, `the DynamoDB table "${table}" ${what} (${said})`, detail);
}
