import { asFault, Fault, type FaultCode, type Outcome } from '@tidemark/libs-kernel';

interface Meaning {
  readonly code: FaultCode;
  readonly what: string;
  /** The same call may succeed in a moment. */
  readonly isPassing: boolean;
}

const throttled: Meaning = { code: 'unavailable', what: 'takes no more now', isPassing: true };
const silent: Meaning = { code: 'unavailable', what: 'does not answer', isPassing: true };
const failing: Meaning = { code: 'unavailable', what: 'cannot do it now', isPassing: true };
const absent: Meaning = { code: 'misconfigured', what: 'is not there', isPassing: false };
const denied: Meaning = { code: 'misconfigured', what: 'does not allow this', isPassing: false };
const strange: Meaning = { code: 'misconfigured', what: 'does not know these credentials', isPassing: false };
/** The SDK learns the right time from such an answer, and signs the next attempt with it. */
const untimely: Meaning = { ...strange, isPassing: true };
const unfit: Meaning = { code: 'misconfigured', what: 'does not take what was sent', isPassing: false };

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
  RequestTimeout: silent,
  RequestTimeoutException: silent,
  DeadlinePassed: silent,
  InternalServerError: failing,
  ServiceUnavailable: failing,
  ReplicatedWriteConflictException: failing,
  TransactionConflictException: failing,
  ResourceNotFoundException: absent,
  AccessDeniedException: denied,
  UnrecognizedClientException: strange,
  IncompleteSignatureException: strange,
  MissingAuthenticationTokenException: strange,
  ExpiredTokenException: strange,
  CredentialsProviderError: strange,
  InvalidSignatureException: untimely,
  RequestExpired: untimely,
  RequestTimeTooSkewed: untimely,
  ValidationException: unfit,
};

/**
 * What DynamoDB, the SDK or the network said, as a Fault that names the table and the exception. Its own words stay in the cause: they name
 * addresses and accounts. `unavailable` exactly where the same call may succeed later.
 */
export function mapError(thrown: unknown, table: string, outcome: Outcome): Fault {
  if (thrown instanceof Fault) return thrown;
  const meaning = meaningOf(thrown);
  if (meaning === null) return asFault(thrown);
  return new Fault(meaning.code, `the dedupe table "${table}" ${meaning.what} (${labelOf(thrown)})`, {
    cause: thrown,
    outcome,
  });
}

/** Whether the call may be repeated at once. */
export function isPassing(thrown: unknown): boolean {
  return meaningOf(thrown)?.isPassing ?? false;
}

export function nameOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.name : '';
}

/** Of several faults the first one that a later retry does not mend, if there is one. */
export function gravestOf(faults: readonly Fault[]): Fault | undefined {
  return faults.find(({ code }) => code !== 'unavailable') ?? faults[0];
}

/** Rejects with the gravest of the faults, when there are any; the others stay reachable in its cause. */
export function throwJoined(faults: readonly Fault[]): void {
  const gravest = gravestOf(faults);
  if (gravest === undefined) return;
  if (faults.length === 1) throw gravest;
  const { code, message, outcome } = gravest;
  throw new Fault(code, message, { outcome, cause: new AggregateError(faults, `${faults.length} calls failed`) });
}

/** null: it does not come from the SDK. */
function meaningOf(thrown: unknown): Meaning | null {
  const named = NAMES[nameOf(thrown)];
  if (named !== undefined) return named;
  const { $metadata, $fault, code } = (thrown ?? {}) as SdkError;
  const status = $metadata?.httpStatusCode;
  if ($fault === 'server' || (status !== undefined && status >= 500)) return failing;
  if (status !== undefined && status >= 400) return unfit;
  // Errors of sockets have a code; an answer that cannot be read has metadata only.
  const isSilence = $metadata !== undefined || typeof code === 'string' || /Abort|Timeout/.test(nameOf(thrown));
  return isSilence ? silent : null;
}

interface SdkError {
  readonly $metadata?: { readonly httpStatusCode?: number };
  readonly $fault?: string;
  readonly code?: unknown;
}

function labelOf(thrown: unknown): string {
  const { code } = thrown as SdkError;
  return typeof code === 'string' ? code : nameOf(thrown);
}
