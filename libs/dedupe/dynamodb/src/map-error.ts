import { type Meaning, meaningOf, nameOf, SILENT, UNFIT } from '@tidemark/libs-driver-dynamodb';
import { asFault, Fault, type Outcome } from '@tidemark/libs-kernel';

/** Refusals of which the SDK learns the right time: it signs the next attempt with it. */
const UNTIMELY = new Set(['InvalidSignatureException', 'RequestExpired', 'RequestTimeTooSkewed']);

/** Each call has one form, which every right table takes: another table, and not the call, is to blame for a refusal. */
function meaningHere(thrown: unknown): Meaning | null {
  if (nameOf(thrown) === 'DeadlinePassed') return SILENT;
  const meaning = meaningOf(thrown);
  return meaning?.code === 'internal' ? UNFIT : meaning;
}

/**
 * What DynamoDB, the SDK or the network said, as a Fault that names the table and the exception. Its own words stay in the cause: they name
 * addresses and accounts. `unavailable` exactly where the same call may succeed later.
 */
export function mapError(thrown: unknown, table: string, outcome: Outcome): Fault {
  if (thrown instanceof Fault) return thrown;
  const meaning = meaningHere(thrown);
  if (meaning === null) return asFault(thrown);
  return new Fault(meaning.code, `the dedupe table "${table}" ${meaning.what} (${labelOf(thrown)})`, {
    cause: thrown,
    outcome,
  });
}

/** Whether the call may be repeated at once. */
export function isPassing(thrown: unknown): boolean {
  return meaningHere(thrown)?.code === 'unavailable' || UNTIMELY.has(nameOf(thrown));
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

function labelOf(thrown: unknown): string {
  const { code } = thrown as { readonly code?: unknown };
  return typeof code === 'string' ? code : nameOf(thrown);
}
