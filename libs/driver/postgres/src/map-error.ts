import { asFault, Fault, type FaultCode } from '@tidemark/libs-kernel';
import type { PostgresUse } from './use.ts';

/**
 * Where a write failed first: in its transaction, in the COMMIT, or at the BEGIN while other statements may have run, each as a
 * transaction of its own.
 */
export type WriteStage = 'transaction' | 'commit' | 'loose';

/** A write failed whose statements were all sent, the COMMIT too. */
export class WriteFailed extends Error {
  readonly stage: WriteStage;

  constructor(cause: unknown, stage: WriteStage) {
    super('the write failed', { cause });
    this.stage = stage;
  }
}

type Meaning = readonly [code: FaultCode, what: string];

/** By SQLSTATE, else by its class. */
const STATES: Readonly<Record<string, Meaning>> = {
  '08': ['unavailable', 'lost the connection'],
  '08P01': ['internal', 'does not understand what was sent'],
  '0A': ['misconfigured', 'lacks a feature'],
  '22003': ['unavailable', 'has no higher number'],
  '22021': ['invalid', 'cannot store a character'],
  '22P05': ['invalid', 'cannot store a character'],
  // Whoever writes takes the stream's lock first; one that does not can still be met, and then a repeat finds what it wrote.
  '23505': ['unavailable', 'was written by somebody who does not take the lock of the stream'],
  '25P03': ['unavailable', 'ended a transaction that stood still'],
  '25006': ['unavailable', 'takes no writes now: it is read-only'],
  '28': ['misconfigured', 'refuses this user'],
  '3D000': ['misconfigured', 'is not there'],
  '3F': ['misconfigured', 'has no schema for the tables'],
  '40': ['unavailable', 'broke off a transaction that met another'],
  '40003': ['unknown_outcome', 'cannot tell what became of a write'],
  '42501': ['misconfigured', 'does not grant a right'],
  '42P01': ['misconfigured', 'lacks a table'],
  '42703': ['misconfigured', 'lacks a column'],
  '42883': ['misconfigured', 'lacks a function'],
  '53': ['unavailable', 'has run out of something'],
  '53100': ['disk_full', 'cannot grow: no space is left'],
  '55': ['unavailable', 'is held by another'],
  '55P03': ['unavailable', 'is held by a write of another process'],
  '57': ['unavailable', 'was interrupted'],
  '57014': ['unavailable', 'took too long'],
  '58': ['unavailable', 'cannot read or write its files'],
  F0: ['misconfigured', 'has a broken configuration'],
  XX: ['internal', 'failed inside'],
  XX001: ['corrupt', 'is damaged'],
  XX002: ['corrupt', 'is damaged'],
};

/** The class of what is more than Postgres holds. */
const TOO_LARGE = '54';

const OTHER: Meaning = ['internal', 'refused a statement'];

/** What Node says when a connection cannot be made, or ends; pg says the others without a code. */
const CONNECTION: Readonly<Record<string, Meaning>> = {
  ENOTFOUND: ['unavailable', 'cannot be reached: its name is unknown'],
  EACCES: ['misconfigured', 'may not be reached'],
  ERR_TLS_CERT_ALTNAME_INVALID: ['misconfigured', 'shows a certificate for another host'],
};

/** What a pooler says in the name of a server that it does not reach. */
const POOLER = '08P01';

/** Of those, said before a server was given anything. */
const POOLER_WITHOUT_SERVER = /server login has been failing|cannot connect to server|query_wait_timeout/;

/**
 * What the server, the driver or the network said, as a Fault that names the database.
 *
 * A write that the server refused was rolled back: nothing is done. A write whose answer is missing was sent whole, so it may be stored
 * (`unknown_outcome`).
 */
export function mapError(thrown: unknown, where: string, use: PostgresUse): Fault {
  if (thrown instanceof Fault) return thrown;
  if (thrown instanceof WriteFailed) return mapWrite(thrown, where, use);
  const meaning = isServerError(thrown) ? serverMeaning(thrown, use) : connectionMeaning(thrown, use);
  if (meaning === null) return asFault(thrown);
  const [code, what] = meaning;
  const message = use.isTold(code) ? `Postgres ${what}` : `${where} ${what} (${saidBy(thrown)})`;
  return new Fault(code, message, { cause: thrown });
}

function serverMeaning(thrown: unknown, { sized }: PostgresUse): Meaning {
  const code = codeOf(thrown);
  if (code.startsWith(TOO_LARGE)) return ['too_large', `cannot hold ${sized} of this size`];
  const isPooler = code === POOLER && endsSession(thrown);
  return STATES[isPooler ? '08' : code] ?? STATES[code.slice(0, 2)] ?? OTHER;
}

function connectionMeaning(thrown: unknown, { caFileSetting }: PostgresUse): Meaning | null {
  const code = codeOf(thrown);
  const known = CONNECTION[code];
  if (known !== undefined) return known;
  if (isTlsError(code))
    return ['misconfigured', `shows a certificate that is not trusted: name a file with its root in ${caFileSetting}`];
  return isConnectionError(thrown) ? ['unavailable', 'cannot be reached'] : null;
}

function mapWrite({ cause, stage }: WriteFailed, where: string, use: PostgresUse): Fault {
  if (isServerError(cause) && isRolledBack(cause, stage)) return mapError(cause, where, use);
  return new Fault('unknown_outcome', `${where} did not answer a write, which may be stored (${saidBy(cause)})`, {
    cause,
  });
}

function isRolledBack(refusal: unknown, stage: WriteStage): boolean {
  const code = codeOf(refusal);
  // A server that ends a session, or itself, may have written the commit down before. Its word for that may be a translated one.
  if (stage === 'commit') return severityOf(refusal) === 'ERROR' && code !== '57014';
  if (code === POOLER && endsSession(refusal)) return POOLER_WITHOUT_SERVER.test((refusal as Error).message);
  return stage === 'transaction';
}

/** Nothing runs in the session after this. */
export function endsSession(refusal: unknown): boolean {
  return severityOf(refusal) === 'FATAL' || severityOf(refusal) === 'PANIC';
}

/** Said by the server, in answer to a statement or to the wish to connect. */
export function isServerError(thrown: unknown): boolean {
  return /^[0-9A-Z]{5}$/.test(codeOf(thrown)) && severityOf(thrown) !== undefined;
}

function isConnectionError(thrown: unknown): boolean {
  if (/^E[A-Z]+$/.test(codeOf(thrown))) return true;
  const message = thrown instanceof Error ? thrown.message : '';
  return /connection|connect|timeout|terminated|pool|SSL/i.test(message);
}

function isTlsError(code: string): boolean {
  return /^(ERR_TLS_|CERT_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|ERR_SSL_|HOSTNAME_MISMATCH)/.test(code);
}

function saidBy(thrown: unknown): string {
  const said = thrown instanceof Error ? thrown.message : String(thrown);
  const code = codeOf(thrown);
  return (code === '' || said.includes(code) ? said : `${code}: ${said}`).replaceAll('\n', ' ');
}

function codeOf(thrown: unknown): string {
  const code = (thrown as { readonly code?: unknown } | null | undefined)?.code;
  return typeof code === 'string' ? code : '';
}

function severityOf(thrown: unknown): unknown {
  return (thrown as { readonly severity?: unknown } | null | undefined)?.severity;
}
