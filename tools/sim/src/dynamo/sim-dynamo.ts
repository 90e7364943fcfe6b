import type { Scheduler } from '../scheduler/scheduler.ts';
import { type Anomalies, noAnomalies } from './anomalies.ts';
import { Capacity } from './capacity.ts';
import { Database } from './database.ts';
import { DynamoError } from './errors.ts';
import { getItem, transactGetItems } from './reads.ts';
import { type Answer, type Request, failure } from './request.ts';
import { plainBatch, plainGet, plainGets, plainQuery, plainScan } from './plain-reads.ts';
import { type PlainKey, PlainTable } from './plain-table.ts';
import { plainTransaction, plainWrite } from './plain-writes.ts';
import { query, scan, throttled } from './scans.ts';
import { singleWrite } from './single-writes.ts';
import { Tokens } from './tokens.ts';
import { transactWriteItems } from './transactions.ts';
import { type Weather, calm } from './weather.ts';

/** What an explorer may do beside ordering events. Each of these multiplies the schedules. */
export interface Liberties {
  /** Answers of committed transactions that may be lost, over the whole run. */
  lostAnswers: number;
  /** Calls that may be given up before they arrive, and arrive later. */
  lateRequests: number;
  /** A page may take each seq, counted modulo this, at one of two moments. 1: pages are instants. */
  readonly tornSeqs: number;
  /** Whether the answer of a transaction may come later than its visibility. */
  readonly slowAnswers: boolean;
  /** Whether claims become visible by themselves, or with the end of their transaction. */
  readonly slowClaims: boolean;
}

export const noLiberties = (): Liberties => ({
  lostAnswers: 0,
  lateRequests: 0,
  tornSeqs: 1,
  slowAnswers: true,
  slowClaims: false,
});

/** A DynamoDB with one table that keeps what the documentation promises and breaks everything else, as the weather has it. */
export class SimDynamo {
  readonly scheduler: Scheduler;
  readonly database = new Database();
  readonly tokens = new Tokens();
  readonly capacity = new Capacity();
  readonly anomalies: Anomalies = noAnomalies();
  readonly liberties: Liberties;
  weather: Weather;
  /** Requests by operation, for tests that count them; a repeat by the SDK counts too. */
  readonly requests = new Map<string, number>();
  /** Operations of parts that stand beside the table, such as its stream. */
  readonly #served = new Map<string, (request: Request) => void>();
  /** Bytes after which a Query's page ends. */
  pageBytesMax = 1024 * 1024;

  constructor(scheduler: Scheduler, weather: Weather = calm, liberties: Liberties = noLiberties()) {
    this.scheduler = scheduler;
    this.weather = weather;
    this.liberties = liberties;
  }

  /** Tables beside that of the ops. */
  readonly #plain = new Map<string, PlainTable>();

  addTable(name: string, key: PlainKey): PlainTable {
    const table = new PlainTable(key);
    this.#plain.set(name, table);
    return table;
  }

  serve(operation: string, handler: (request: Request) => void): void {
    this.#served.set(operation, handler);
  }

  /** A request arrives. What it answers, and when, is told through its reply. */
  receive(request: Request): void {
    this.requests.set(request.operation, (this.requests.get(request.operation) ?? 0) + 1);
    try {
      this.#handle(request);
    } catch (error) {
      if (!(error instanceof DynamoError)) throw error;
      request.reply(failure(error));
    }
  }

  /** Whether something that the weather makes likely happens. In a free order nothing is likely. */
  misfortune(probability: number): boolean {
    return this.scheduler.ordering === 'timed' && this.scheduler.chance(probability);
  }

  /** The reply of a write, which may be lost or turned into an error that says nothing. */
  answerWrite(request: Request, answer: Answer): void {
    if (this.misfortune(this.weather.lostAnswer)) this.anomalies.lostAnswer++;
    else if (this.misfortune(this.weather.serverError)) request.reply(failure(serverError()));
    else request.reply(answer);
  }

  #handle(request: Request): void {
    if (this.misfortune(this.weather.serverError)) throw serverError();
    const served = this.#served.get(request.operation);
    if (served !== undefined) return served(request);
    const name = tableOf(request);
    const plain = this.#plain.get(name);
    if (plain !== undefined) return this.#handlePlain(name, plain, request);
    switch (request.operation) {
      case 'Query':
        return query(this, request);
      case 'Scan':
        return scan(this, request);
      case 'GetItem':
        return getItem(this, request);
      case 'TransactGetItems':
        return transactGetItems(this, request);
      case 'TransactWriteItems':
        return transactWriteItems(this, request);
      case 'PutItem':
      case 'UpdateItem':
      case 'DeleteItem':
        return singleWrite(this, request);
      default:
        throw new Error(`the simulated DynamoDB does not know ${request.operation}`);
    }
  }

  #handlePlain(name: string, table: PlainTable, request: Request): void {
    const isRead = READ.test(request.operation);
    if (isRead && this.misfortune(this.weather.throttle)) throw throttled(this);
    switch (request.operation) {
      case 'GetItem':
        return plainGet(table, request);
      case 'TransactGetItems':
        return plainGets(table, request);
      case 'BatchGetItem':
        return plainBatch(this, name, table, request);
      case 'Query':
        return plainQuery(this, table, request);
      case 'Scan':
        return plainScan(this, table, request);
      case 'TransactWriteItems':
        return plainTransaction(this, table, request);
      case 'PutItem':
      case 'UpdateItem':
      case 'DeleteItem':
        return plainWrite(this, table, request);
      default:
        throw new Error(`the simulated DynamoDB does not know ${request.operation}`);
    }
  }
}

const READ = /^(GetItem|TransactGetItems|BatchGetItem|Query|Scan)$/;

/** All tables of one call are one here. */
function tableOf({ input }: Request): string {
  const { TableName, RequestItems, TransactItems } = input as {
    readonly TableName?: string;
    readonly RequestItems?: object;
    readonly TransactItems?: readonly Record<string, { readonly TableName: string }>[];
  };
  const parts = TransactItems?.[0] === undefined ? [] : Object.values(TransactItems[0]);
  return TableName ?? parts.find((part) => part !== undefined)?.TableName ?? Object.keys(RequestItems ?? {})[0] ?? '';
}

const serverError = () => new DynamoError('InternalServerError', 'Internal server error');
