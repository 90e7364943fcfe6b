// A service that answers by a script, in time that moves when nothing else can happen.
import { ManualTime } from '@tidemark/libs-kernel/testing';
import type { Op } from '@tidemark/libs-wire';
import type { ServiceOptions } from './service.ts';

export interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** What the service does with a request: answers, breaks the connection (an Error), or says nothing at all (null). */
export type Script = (request: Seen, nth: number) => Response | Error | null;

export const TIMEOUT_MS = 30_000;

export class ScriptedService {
  readonly time = new ManualTime();
  readonly seen: Seen[] = [];
  /** Waits between attempts, in milliseconds. */
  readonly waits: number[] = [];
  readonly options: ServiceOptions;

  constructor(script: Script, options: Partial<ServiceOptions> = {}) {
    this.options = {
      url: 'http://service',
      clock: this.time,
      sleeper: {
        sleep: (ms, signal) => {
          if (ms < TIMEOUT_MS) this.waits.push(ms);
          return this.time.sleep(ms, signal);
        },
      },
      random: { bytes: (n) => new Uint8Array(n), fraction: () => 0.5 },
      fetch: (url, init) => this.#answer(script, String(url), init ?? {}),
      timeoutMs: TIMEOUT_MS,
      ...options,
    };
  }

  async #answer(script: Script, url: string, init: RequestInit): Promise<Response> {
    const headers = (init.headers ?? {}) as Record<string, string>;
    const request = { method: init.method ?? 'GET', url, headers, body: (init.body ?? '') as string };
    this.seen.push(request);
    const answer = script(request, this.seen.length);
    if (answer instanceof Error) throw answer;
    if (answer !== null) return answer;
    return new Promise((_, reject) => {
      const leave = () => reject(init.signal?.reason);
      if (init.signal?.aborted) leave();
      init.signal?.addEventListener('abort', leave);
    });
  }

  /** Lets time pass until the work has ended. */
  async ended<T>(work: Promise<T>): Promise<T> {
    let done = false;
    const end = () => void (done = true);
    work.then(end, end);
    for (;;) {
      for (let turn = 0; turn < 5 && !done; turn++) await new Promise(setImmediate);
      if (done) return work;
      this.time.advance(250);
    }
  }
}

export const answer = (status: number, body = '', headers: Record<string, string> = {}) =>
  new Response(status === 204 ? null : body, { status, headers });

/** What fetch rejects with when a connection breaks. */
export const broken = (code = 'ECONNRESET') =>
  new TypeError('fetch failed', { cause: Object.assign(new Error(code), { code }) });

export function opsOf(...ids: string[]): Op[] {
  return ids.map((opId) => ({
    envelopeVersion: 1,
    opId,
    lamport: 2n ** 62n,
    site: 7203685477580712345n,
    domain: 'task',
    targetKind: 'item',
    targetId: 'i',
    field: 'title',
    opType: 'set',
    value: 'v',
    author: '',
    wallClock: '',
    extra: '{}',
  }));
}

export const idsIn = (body: string) => [...body.matchAll(/"op_id":"([^"]*)"/g)].map(([, id]) => id);

/** A relay that stores what it is pushed, and answers so. */
export class PushLog {
  readonly ids: string[] = [];

  store(body: string): Response {
    const ids = idsIn(body) as string[];
    for (const id of ids) if (!this.ids.includes(id)) this.ids.push(id);
    const seq = Math.max(0, ...ids.map((id) => this.ids.indexOf(id) + 1));
    return answer(200, `{"appended":${ids.length}}`, { 'tidemark-seq': String(seq) });
  }
}
