import { mkdtempSync, rmSync } from 'node:fs';
import { type Socket, connect } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { EventReader } from './event-reader.ts';
import { RelayProcess } from './relay-process.ts';
import { buildServices } from './service-process.ts';
import { expectResumes, metric, push, wakeups } from './relay-tails.ts';

jest.setTimeout(600_000);

let folder: string;
let started: RelayProcess[];
beforeAll(() => buildServices('relay'));
beforeEach(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'tidemark-tail-'));
  started = [];
});
afterEach(async () => {
  for (const relay of started) await relay.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function start(env: NodeJS.ProcessEnv = {}): Promise<RelayProcess> {
  const relay = await RelayProcess.start({ TIDEMARK_DATA: folder, TIDEMARK_LOG_LEVEL: 'info', ...env });
  started.push(relay);
  return relay;
}

test('RLY-14: after 20 times kill -9 in the middle of a stream of events its reader has lost and doubled nothing', async () => {
  await expectResumes(await start(), 20, () => start());
});

test('RLY-14: where no relay tells the other, polling finds the append', async () => {
  const elsewhere = mkdtempSync(path.join(folder, 'elsewhere-'));
  const file = path.join(folder, 'relay.sqlite');
  const writer = await start({ RELAY_SQLITE_FILE: file, TIDEMARK_DATA: elsewhere });
  const reading = await start({ RELAY_SQLITE_FILE: file, RELAY_TAIL_TOLD_POLL_MS: '50' });
  const events = await EventReader.open(reading.url, 's');
  await push(writer, 's', { opId: 'op-1' });
  await events.until(1);
  events.close();
  expect([events.ids, (await wakeups(reading, 'poll')) > 0]).toEqual([['op-1'], true]);
});

const READERS = 5000;
const STREAMS = 50;
const MORE_MB_MAX = 200;

test(`RLY-14, OPS-4: ${READERS} idle readers, half of either kind, take less than ${MORE_MB_MAX} MB, and each is woken`, async () => {
  const relay = await start();
  for (let n = 0; n < 200; n++) await push(relay, `s${n % STREAMS}`, { opId: `warm-${n}` });
  const since = 200 / STREAMS;
  const before = await metric(relay, 'process_resident_memory_bytes\\{.*\\}');
  const readers: Reader[] = [];
  for (let n = 0; n < READERS; n += 100) {
    const some = Array.from(
      { length: 100 },
      (_, m) => new Reader(relay.url, `s${(n + m) % STREAMS}`, since, m % 2 === 0),
    );
    readers.push(...some);
    while ((await metric(relay, 'tidemark_tail_readers\\{.*\\}')) < readers.length);
  }
  const moreMb = ((await metric(relay, 'process_resident_memory_bytes\\{.*\\}')) - before) / 1e6;
  process.stdout.write(
    `${READERS} idle readers: ${moreMb.toFixed(0)} MB more, ${((moreMb * 1000) / READERS).toFixed(0)} kB each\n`,
  );
  for (let n = 0; n < STREAMS; n++) await push(relay, `s${n}`, { opId: `woken-${n}` });
  for (const reader of readers) await reader.heard;
  for (const reader of readers) reader.close();
  expect(moreMb).toBeLessThan(MORE_MB_MAX);
});

/** A reader as small as can be: so many of them share a process with the test. */
class Reader {
  readonly heard: Promise<void>;
  readonly #socket: Socket;

  constructor(relay: string, stream: string, since: number, events: boolean) {
    const { hostname, port } = new URL(relay);
    this.#socket = connect(Number(port), hostname);
    const [wait, accept] = events ? ['', 'text/event-stream'] : ['&wait=55', '*/*'];
    const head = `Host: ${hostname}\r\nAccept: ${accept}`;
    const ask = () =>
      this.#socket.write(`GET /streams/${stream}/ops?since=${since}${wait} HTTP/1.1\r\n${head}\r\n\r\n`);
    ask();
    let text = '';
    this.heard = new Promise((resolve, reject) => {
      this.#socket.on('error', reject);
      this.#socket.on('close', () => reject(new Error(`closed after ${text}`)));
      this.#socket.on('data', (chunk) => {
        text += chunk.toString();
        // A slow machine takes longer to open them all than one of them waits.
        if (text.endsWith(`{"ops":[],"next":${since}}`)) {
          text = '';
          ask();
        }
        if (text.includes(`"woken-${stream.slice(1)}"`)) resolve();
      });
    });
    this.heard.catch(() => {});
  }

  close(): void {
    this.#socket.destroy();
  }
}
