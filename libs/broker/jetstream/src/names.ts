import { Fault } from '@tidemark/libs-kernel';
import { escapeToken, unescapeToken } from '@tidemark/libs-wire';
import type { Topic } from '@tidemark/libs-broker-contract';

/** What the server takes as the name of a stream or durable consumer. */
const NAME_LENGTH_MAX = 255;
/** A subject stands on a line of the protocol that a server cuts the connection for when it passes 4096 bytes. */
const TABLE_LENGTH_MAX = 2048;
/** The empty table: no escaped text is a lone `%`. */
const EMPTY_TOKEN = '%';

/**
 * Names of everything that is ours on the server, by the prefix of the installation (lower-case, so that `_INGEST_` ends it):
 *
 *     stream PREFIX_INGEST_<tenant>   subjects PREFIX.ingest.<tenant>.<table>
 *     stream PREFIX_DLQ_<tenant>      subjects PREFIX.dlq.<tenant>.<table>
 *     stream PREFIX_LEASES            subjects PREFIX.lease.<name>
 *                                     subjects PREFIX.notify.<hash>
 */
export class Names {
  readonly prefix: string;
  readonly leaseStream: string;

  constructor(prefix: string) {
    if (!/^[a-z0-9_-]{1,32}$/.test(prefix))
      throw new Fault('misconfigured', `prefix ${JSON.stringify(prefix)}: must be 1 to 32 of a-z 0-9 _ -`);
    this.prefix = prefix;
    this.leaseStream = `${prefix}_LEASES`;
  }

  queueStream(tenant: string): string {
    return checkLength(`${this.prefix}_INGEST_${streamToken(tenant)}`, NAME_LENGTH_MAX);
  }

  deadLetterStream(tenant: string): string {
    return checkLength(`${this.prefix}_DLQ_${streamToken(tenant)}`, NAME_LENGTH_MAX);
  }

  /** Null for a stream that is no queue of ours. */
  tenantOf(stream: string): string | null {
    const start = `${this.prefix}_INGEST_`;
    if (!stream.startsWith(start)) return null;
    const tenant = unescapeToken(stream.slice(start.length).replaceAll('=', '%'));
    return tenant !== null && tenant !== '' && this.queueStream(tenant) === stream ? tenant : null;
  }

  queueSubjects(tenant: string): string {
    return `${this.prefix}.ingest.${escapeToken(tenant)}.*`;
  }

  deadLetterSubjects(tenant: string): string {
    return `${this.prefix}.dlq.${escapeToken(tenant)}.*`;
  }

  queueSubject({ tenant, table }: Topic): string {
    return `${this.prefix}.ingest.${escapeToken(tenant)}.${tableToken(table)}`;
  }

  deadLetterSubject({ tenant, table }: Topic): string {
    return `${this.prefix}.dlq.${escapeToken(tenant)}.${tableToken(table)}`;
  }

  get everyQueueSubject(): string {
    return `${this.prefix}.ingest.>`;
  }

  /** The table of a message's subject; a token that nobody of ours wrote is kept as it is. */
  tableOf(subject: string): string {
    const token = subject.slice(subject.lastIndexOf('.') + 1);
    return token === EMPTY_TOKEN ? '' : (unescapeToken(token) ?? token);
  }

  durable(consumer: string): string {
    if (consumer === '') throw new Fault('invalid', 'a consumer without a name');
    return checkLength(streamToken(consumer), NAME_LENGTH_MAX);
  }

  leaseSubject(name: string): string {
    return `${this.prefix}.lease.${checkLength(tableToken(name), TABLE_LENGTH_MAX)}`;
  }

  get leaseSubjects(): string {
    return `${this.prefix}.lease.*`;
  }

  notifySubject(hash: string): string {
    return `${this.prefix}.notify.${hash}`;
  }
}

function tableToken(table: string): string {
  return checkLength(table === '' ? EMPTY_TOKEN : escapeToken(table), TABLE_LENGTH_MAX);
}

/** With `=` for `%`: a server of 2.10 hears no ack for a stream or consumer that has a `%` in its name. */
function streamToken(text: string): string {
  return escapeToken(text).replaceAll('%', '=');
}

function checkLength(name: string, lengthMax: number): string {
  if (name.length > lengthMax) throw new Fault('invalid', `a name of ${name.length} characters, ${lengthMax} fit`);
  return name;
}
