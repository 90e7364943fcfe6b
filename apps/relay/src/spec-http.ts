/** A relay over real sockets, on stores that a spec gives it and in a time that the spec moves. */
import 'reflect-metadata';
import { Agent, type IncomingMessage, request } from 'node:http';
import { PUSH_BODY_BYTES_MAX } from '@tidemark/libs-kernel';
import { ManualTime } from '@tidemark/libs-kernel/testing';
import type { IndexedOpStore } from '@tidemark/libs-op-store-contract';
import { MemoryOpStore, MemoryPrefixRegistry, MemoryPresenceBoard } from '@tidemark/libs-op-store-contract/testing';
import { MachinesService, PushService, StreamWriter } from '@tidemark/libs-relay';
import { Metrics, createHttp, createLog, loadOf } from '@tidemark/libs-service-kit';
import { AppModule } from './app.module.ts';
import { relay } from './relay.ts';
import { specTail } from './spec-tail.ts';

export interface Told {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
}

export type SpecHttp = Awaited<ReturnType<typeof startHttp>>;

const open = new Set<() => Promise<void>>();
// What a failed test has left would keep the process alive.
afterAll(() => Promise.all([...open].map((close) => close())));

const JSON_TYPE = { 'content-type': 'application/json' };

export async function startHttp({ opStore = new MemoryOpStore() as IndexedOpStore, presence = true } = {}) {
  const time = new ManualTime(1_790_000_000_000);
  const stopping = new AbortController().signal;
  const bounds = { deadlineMs: 20_000, pushesMax: 100, bytesMax: 100 * PUSH_BODY_BYTES_MAX };
  const unmeasured = { round: () => {}, queued: () => {}, late: () => {} };
  const writer = new StreamWriter({ opStore, clock: time, sleeper: time, metrics: unmeasured, ...bounds });
  const module = AppModule.create({
    opStore,
    push: new PushService(opStore, writer),
    pull: specTail({ opStore, time }).tail,
    registry: new MemoryPrefixRegistry(),
    machines: presence ? new MachinesService(new MemoryPresenceBoard(), time) : null,
    intake: null,
    deadLetters: null,
    stopping,
    log: { warn: () => {} },
  });
  const log = createLog('relay', 'silent');
  const app = await createHttp(module, relay.http, { log, metrics: new Metrics('relay'), clock: time, stopping });
  await app.listen(0, '127.0.0.1');
  const port = Number(new URL(await app.getUrl()).port);
  const agent = new Agent({ keepAlive: true });

  /** Sends the path as it is written; libraries would tidy it up. */
  const ask = (method: string, path: string, body?: string | Uint8Array, headers: Record<string, string> = {}) =>
    new Promise<Told>((resolve, reject) => {
      const sent = body === undefined ? headers : { 'content-length': Buffer.byteLength(body), ...headers };
      const asked = request({ agent, host: '127.0.0.1', port, method, path, headers: sent }, (message) => {
        message.on('error', reject);
        void message.toArray().then((chunks: Buffer[]) => {
          resolve({
            status: message.statusCode ?? 0,
            headers: message.headers,
            text: Buffer.concat(chunks).toString(),
          });
        }, reject);
      });
      asked.on('error', reject);
      asked.end(body);
    });

  const close = async () => {
    open.delete(close);
    agent.destroy();
    loadOf(app).traffic.cut();
    await app.close();
  };
  open.add(close);

  return {
    opStore,
    time,
    port,
    traffic: loadOf(app).traffic,
    ask,
    get: (path: string) => ask('GET', path),
    post: (path: string, body: string | Uint8Array) => ask('POST', path, body, JSON_TYPE),
    push: (body: string | Uint8Array, stream = 's') => ask('POST', `/streams/${stream}/ops`, body, JSON_TYPE),
    pull: async (stream = 's', query = '') => (await ask('GET', `/streams/${stream}/ops${query}`)).text,
    /** Every stream that holds something. */
    stored: async () => (await opStore.streams(null, 1000)).map(({ stream }) => stream),
    close,
  };
}
