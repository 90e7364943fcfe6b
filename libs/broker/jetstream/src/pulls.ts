import { type Msg, type Subscription, createInbox } from 'nats';
import type { Link } from './link.ts';

/** How a request for messages ended. */
export type PullEnd =
  /** As many came as were asked for, or the server said that there are no more. */
  | 'answered'
  /** The caller wants no more. */
  | 'stopped'
  /** No last word of the server: what it gave on its way comes again after the ack wait. */
  | 'lost'
  /** The durable consumer is not there, or has no leader. */
  | 'gone';

export interface Pulled {
  readonly messages: readonly Msg[];
  readonly end: PullEnd;
}

export interface PullRequest {
  readonly batch: number;
  /** 0: what is there now. */
  readonly expiresMs: number;
  readonly bytesMax: number;
}

const NS_PER_MS = 1_000_000;
/** How long the server may be silent when its next word is due: megabytes on a slow line take longer as a whole. */
const GRACE_MS = 2000;
/** The status of a request that was cut by its bytes: what came came. */
const CUT = /^(Message Size Exceeds MaxBytes|Batch Completed)$/i;

/** Requests for messages of one durable consumer. */
export class Pulls {
  readonly #link: Link;
  readonly #subject: string;
  readonly #inboxPrefix: string;
  readonly #idle: Pull[] = [];

  constructor(link: Link, subject: string, inboxPrefix: string) {
    this.#link = link;
    this.#subject = subject;
    this.#inboxPrefix = inboxPrefix;
  }

  async pull(request: PullRequest, signal: AbortSignal): Promise<Pulled> {
    const pull = this.#idle.pop() ?? new Pull(this.#link, this.#subject, createInbox(this.#inboxPrefix));
    const pulled = await pull.run(request, signal);
    // A request that may still be open at the server gets no more than what is on its way.
    if (pulled.end === 'answered' && !this.#link.isClosed) this.#idle.push(pull);
    else pull.close();
    return pulled;
  }

  close(): void {
    for (const pull of this.#idle.splice(0)) pull.close();
  }
}

/** An inbox with one request open at a time: messages do not say which request they answer. */
class Pull {
  readonly #link: Link;
  readonly #subject: string;
  readonly #inbox: string;
  readonly #subscription: Subscription;
  #messages: Msg[] = [];
  #batch = 0;
  #heardAtMs = 0;
  #end: (end: PullEnd) => void = () => {};

  constructor(link: Link, subject: string, inbox: string) {
    this.#link = link;
    this.#subject = subject;
    this.#inbox = inbox;
    this.#subscription = link.connection.subscribe(inbox, {
      callback: (error, message) => (error ? this.#end('lost') : this.#heard(message)),
    });
  }

  async run({ batch, expiresMs, bytesMax }: PullRequest, signal: AbortSignal): Promise<Pulled> {
    const ended = Promise.withResolvers<PullEnd>();
    this.#messages = [];
    this.#batch = batch;
    this.#heardAtMs = this.#link.clock.monotonic();
    this.#end = ended.resolve;
    const wait = expiresMs > 0 ? { expires: expiresMs * NS_PER_MS } : { no_wait: true };
    const request = JSON.stringify({ batch, max_bytes: bytesMax, ...wait });
    this.#link.connection.publish(this.#subject, request, { reply: this.#inbox });
    const end = await this.#untilEnded(ended.promise, expiresMs + GRACE_MS, signal);
    this.#end = () => {};
    return { messages: this.#messages, end };
  }

  close(): void {
    if (!this.#link.isClosed) this.#subscription.unsubscribe();
  }

  async #untilEnded(ended: Promise<PullEnd>, waitMs: number, signal: AbortSignal): Promise<PullEnd> {
    const done = new AbortController();
    const stop = () => done.abort();
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    const late = this.#silence(waitMs, done.signal).then((): PullEnd => (signal.aborted ? 'stopped' : 'lost'));
    const end = await this.#link.unlessLost(Promise.race([ended, late])).catch((): PullEnd => 'lost');
    stop();
    signal.removeEventListener('abort', stop);
    return end;
  }

  async #silence(waitMs: number, done: AbortSignal): Promise<void> {
    const { clock, sleeper } = this.#link;
    for (let leftMs = waitMs; leftMs > 0 && !done.aborted; leftMs = this.#heardAtMs + GRACE_MS - clock.monotonic()) {
      await sleeper.sleep(leftMs, done);
    }
  }

  #heard(message: Msg): void {
    this.#heardAtMs = this.#link.clock.monotonic();
    const status = message.headers?.code ?? 0;
    if (status > 0) return this.#end(endOf(status, message.headers?.description ?? ''));
    if (this.#messages.push(message) === this.#batch) this.#end('answered');
  }
}

function endOf(status: number, description: string): PullEnd {
  if (status === 404 || status === 408 || CUT.test(description)) return 'answered';
  return status === 503 ? 'gone' : 'lost';
}
