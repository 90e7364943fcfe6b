import { asFault, Fault, type FaultCode } from '@tidemark/libs-kernel';

interface Meaning {
  readonly code: FaultCode;
  readonly what: string;
}

const busy: Meaning = { code: 'unavailable', what: 'takes no more now' };
const silent: Meaning = { code: 'unavailable', what: 'does not answer' };
const absent: Meaning = { code: 'misconfigured', what: 'is not there' };
const denied: Meaning = { code: 'misconfigured', what: 'does not allow this' };
const strange: Meaning = { code: 'misconfigured', what: 'does not know these credentials' };
const defect: Meaning = { code: 'internal', what: 'refused what was sent' };

/** By the exception's name. */
const NAMES: Readonly<Record<string, Meaning>> = {
  ThrottlingException: busy,
  Throttling: busy,
  ProvisionedThroughputExceededException: busy,
  RequestLimitExceeded: busy,
  LimitExceededException: busy,
  TransactionConflictException: busy,
  ResourceNotFoundException: absent,
  AccessDeniedException: denied,
  UnrecognizedClientException: strange,
  InvalidSignatureException: strange,
  IncompleteSignatureException: strange,
  MissingAuthenticationTokenException: strange,
  ExpiredTokenException: strange,
  CredentialsProviderError: strange,
};

const RETRY_AFTER_MS = 1000;

/** What DynamoDB, the SDK or the network said of `what`: a Fault that names it. `unavailable` also when nobody answered. */
export function mapError(thrown: unknown, what: string): Fault {
  if (thrown instanceof Fault) return thrown;
  const meaning = meaningOf(thrown);
  if (meaning === null) return asFault(thrown);
  const said = thrown instanceof Error ? `${thrown.name}: ${thrown.message}`.replaceAll('\n', ' ') : String(thrown);
  const detail = meaning.code === 'unavailable' ? { cause: thrown, retryAfterMs: RETRY_AFTER_MS } : { cause: thrown };
  return new Fault(meaning.code, `${what} ${meaning.what} (${said})`, detail);
}

export function nameOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.name : '';
}

export function isThrottled(thrown: unknown): boolean {
  return NAMES[nameOf(thrown)] === busy;
}

/** null: it does not come from the SDK. */
function meaningOf(thrown: unknown): Meaning | null {
  const named = NAMES[nameOf(thrown)];
  if (named !== undefined) return named;
  const { $metadata, code } = (thrown ?? {}) as { $metadata?: { httpStatusCode?: number }; code?: unknown };
  const status = $metadata?.httpStatusCode;
  if (status !== undefined && status >= 400 && status < 500) return defect;
  const isSilence = $metadata !== undefined || typeof code === 'string' || /Abort|Timeout/.test(nameOf(thrown));
  return isSilence ? silent : null;
}
