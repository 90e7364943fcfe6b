import { asFault, Fault } from '@tidemark/libs-kernel';
import { isCertain, meaningOf } from './meaning.ts';

const RETRY_AFTER_MS = 1000;

/** As faults call a table. */
export function tableCalled(name: string): string {
  return `the DynamoDB table "${name}"`;
}

/**
 * What DynamoDB, the SDK or the network said of a read, or of a write that may be repeated at will: a Fault that names the table.
 * `unavailable` also when nobody answered.
 */
export function mapError(thrown: unknown, table: string): Fault {
  return faultOf(thrown, tableCalled(table));
}

/** The same of anything else, such as `the stream s`. */
export function faultOf(thrown: unknown, called: string): Fault {
  if (thrown instanceof Fault) return thrown;
  const meaning = meaningOf(thrown);
  if (meaning === null) return asFault(thrown);
  const { code, what } = meaning;
  const said = thrown instanceof Error ? `${thrown.name}: ${thrown.message}`.replaceAll('\n', ' ') : String(thrown);
  return new Fault(code, `${called} ${what} (${said})`, {
    cause: thrown,
    outcome: 'not-done',
    ...(code === 'unavailable' ? { retryAfterMs: RETRY_AFTER_MS } : {}),
  });
}

/** As mapError, of a write: its outcome is `unknown` unless it is certain that none of its attempts did anything. */
export function mapWriteError(thrown: unknown, table: string): Fault {
  const fault = mapError(thrown, table);
  if (thrown instanceof Fault || isCertain(thrown)) return fault;
  const { code, message, retryAfterMs } = fault;
  const detail = { cause: thrown, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
  return new Fault(code, `${message}; the write may be stored`, { ...detail, outcome: 'unknown' });
}
