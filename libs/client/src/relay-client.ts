import type { Op } from '@tidemark/libs-wire';
import { Members } from './answer-json.ts';
import { segment } from './path-segment.ts';
import { type PushOutcome, pushAll } from './push.ts';
import { type Page, type PullOptions, pullPage, pullPages } from './pull.ts';
import { type CallOptions, Service, type ServiceOptions } from './service.ts';
import { tailByEvents } from './tail-events.ts';
import { type TailOptions, tailByPolls } from './tail-poll.ts';

/** `no_registry`: this relay keeps no prefixes; go on with the one you have. */
export type Registration =
  | { readonly kind: 'registered' }
  | { readonly kind: 'reassigned'; readonly newPrefix: string }
  | { readonly kind: 'no_registry' };

export interface Hello {
  readonly machineId: string;
  readonly name: string;
  readonly intervalSecs: number;
}

export interface Machine {
  readonly machineId: string;
  readonly name: string;
  /** Seconds since 1970, by the relay's clock. */
  readonly lastSeenSecs: bigint;
  readonly ageSecs: bigint;
  readonly intervalSecs: bigint;
}

export interface Machines {
  /** The latest first, at most 100. */
  readonly machines: readonly Machine[];
  readonly truncated: boolean;
}

export interface StreamHead {
  readonly stream: string;
  /** Highest seq ever given; 0 for an unknown stream. */
  readonly head: bigint;
}

export interface StreamState extends StreamHead {
  /** Seqs up to the head that hold no op and never will. */
  readonly burned: bigint;
}

export interface Erased extends StreamHead {
  /** Ops that were removed now; 0 when a repeat found nothing left. */
  readonly erased: bigint;
}

export interface StreamsOptions extends CallOptions {
  /** Streams above this id; default: from the first one. */
  readonly after?: string;
  readonly limit?: number;
}

export interface StreamsPage {
  readonly streams: readonly StreamHead[];
  /** The `after` of the following page; null on the last one. */
  readonly next: string | null;
}

/** Sends nothing by itself: a relay that is away shows at the first call. */
export const connectRelay = (options: ServiceOptions): RelayClient => new RelayClient(options);

/**
 * A relay's streams. Calls that fail for a while are repeated within the rules of `retry`, which is safe: ops are known by their ids. A call
 * that fails for good rejects with a ServiceError; `push` answers what it achieved instead.
 */
export class RelayClient {
  readonly #service: Service;

  constructor(options: ServiceOptions) {
    this.#service = new Service(options);
  }

  /** Stores the ops at the end of the stream, in their order and in batches of at most 500; see {@link PushOutcome}. */
  async push(stream: string, ops: readonly Op[], options: CallOptions = {}): Promise<PushOutcome> {
    return pushAll(this.#service, stream, ops, options);
  }

  /** One page of ops with a seq above `since`. */
  async pull(stream: string, since: bigint, options: PullOptions = {}): Promise<Page> {
    return pullPage(this.#service, stream, since, options);
  }

  /** Every page from `since` to the end of the stream; see {@link pullPages}. */
  pages(stream: string, since: bigint, options: PullOptions = {}): AsyncGenerator<Page, void, undefined> {
    return pullPages(this.#service, stream, since, options);
  }

  /** The same, and goes on with ops as they come until `signal` aborts; then it ends. By long poll; works with every relay. */
  tail(stream: string, since: bigint, options: TailOptions = {}): AsyncGenerator<Page, void, undefined> {
    return tailByPolls(this.#service, stream, since, options);
  }

  /** As `tail`, on one connection that stays open: sooner by a round trip. */
  events(stream: string, since: bigint, options: PullOptions = {}): AsyncGenerator<Page, void, undefined> {
    return tailByEvents(this.#service, stream, since, options);
  }

  /** Claims a prefix for a replica. The same question has the same answer for ever. */
  async register(
    stream: string,
    prefix: string,
    replicaUuid: string,
    { signal }: CallOptions = {},
  ): Promise<Registration> {
    const body = JSON.stringify({ prefix, replica_uuid: replicaUuid });
    const request = { ...post(`${pathOf(stream)}/register`, body), signal, answers: [404] };
    return this.#service.call(request, (answer): Registration => {
      if (answer.status === 404) return { kind: 'no_registry' };
      const members = Members.of(answer.body);
      if (members.text('outcome') === 'registered') return { kind: 'registered' };
      return { kind: 'reassigned', newPrefix: members.text('new_prefix') };
    });
  }

  /** Says that a machine is there. False: this relay keeps no presence. */
  async announce(
    stream: string,
    { machineId, name, intervalSecs }: Hello,
    { signal }: CallOptions = {},
  ): Promise<boolean> {
    const body = JSON.stringify({ machine_id: machineId, name, interval_secs: intervalSecs });
    const request = { ...post(`${pathOf(stream)}/machines`, body), signal, answers: [404, 405] };
    return this.#service.call(request, ({ status }) => status === 204);
  }

  /** Machines that said hello lately; null: this relay keeps no presence. */
  async machines(stream: string, { signal }: CallOptions = {}): Promise<Machines | null> {
    const request = { method: 'GET', path: `${pathOf(stream)}/machines`, signal, answers: [404, 405] } as const;
    return this.#service.call(request, ({ status, body }) => (status === 200 ? machinesIn(body) : null));
  }

  /** For an operator: takes time proportional to the stream. */
  async describe(stream: string, { signal }: CallOptions = {}): Promise<StreamState> {
    const request = { method: 'GET', path: `/v1${pathOf(stream)}`, signal } as const;
    return this.#service.call(request, ({ body }) => {
      const members = Members.of(body);
      return { ...headIn(members), burned: members.int64('burned') };
    });
  }

  /** For an operator: removes every op of the stream; its head stays, and later ops go after it. */
  async erase(stream: string, { signal }: CallOptions = {}): Promise<Erased> {
    const request = { method: 'DELETE', path: `/v1${pathOf(stream)}`, signal } as const;
    return this.#service.call(request, ({ body }) => {
      const members = Members.of(body);
      return { ...headIn(members), erased: members.int64('erased') };
    });
  }

  /** One page of the streams that hold an op, in the UTF-8 order of their ids. For an operator. */
  streams({ after, limit, signal }: StreamsOptions = {}): Promise<StreamsPage> {
    const query = new URLSearchParams();
    if (after !== undefined) query.set('after', after);
    if (limit !== undefined) query.set('limit', String(limit));
    return this.#service.call({ method: 'GET', path: `/v1/streams?${query}`, signal }, ({ body }) => {
      const members = Members.of(body);
      return { streams: members.list('streams').map(headIn), next: members.textOrNull('next') };
    });
  }
}

const pathOf = (stream: string) => `/streams/${segment(stream)}`;

const post = (path: string, body: string) =>
  ({ method: 'POST', path, headers: { 'content-type': 'application/json' }, body }) as const;

const headIn = (members: Members): StreamHead => ({ stream: members.text('stream'), head: members.int64('head') });

function machinesIn(body: Uint8Array): Machines {
  const members = Members.of(body);
  const machines = members.list('machines').map((machine) => ({
    machineId: machine.text('machine_id'),
    name: machine.text('name'),
    lastSeenSecs: machine.int64('last_seen'),
    ageSecs: machine.int64('age_secs'),
    intervalSecs: machine.int64('interval_secs'),
  }));
  return { machines, truncated: members.truth('truncated') };
}
