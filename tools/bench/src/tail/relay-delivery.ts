import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import path from 'node:path';
import { anOp } from '@tidemark/libs-op-store-contract/testing';
import { encodePush } from '@tidemark/libs-wire';
import { type Delivery, inOrder, nowMs } from './delivery.ts';

const root = path.resolve(import.meta.dirname, '../../../..');

/** Pushes to one relay and reads the stream of events of another, on one SQLite file. */
export class RelayDelivery implements Delivery {
  readonly name: string;
  readonly #relays: readonly ChildProcess[];
  readonly #pushTo: string;
  readonly #events: IncomingMessage;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });
  readonly #seen: string[] = [];
  #sent = 0;
  #arrived: (atMs: number) => void = () => {};

  private constructor(name: string, relays: readonly ChildProcess[], pushTo: string, events: IncomingMessage) {
    this.name = name;
    this.#relays = relays;
    this.#pushTo = pushTo;
    this.#events = events;
    let text = '';
    events.setEncoding('utf8').on('data', (chunk: string) => {
      const blocks = (text + chunk).split('\n\n');
      text = blocks.pop() ?? '';
      for (const block of blocks) this.#read(block);
    });
  }

  static async open(name: string, folder: string, settings: NodeJS.ProcessEnv = {}): Promise<RelayDelivery> {
    const { bundle } = await import(path.join(root, 'tools/launcher/bundle.mjs'));
    await bundle('apps/relay');
    const env = { ...process.env, TIDEMARK_DATA: folder, RELAY_ADDR: '127.0.0.1:0', RELAY_INTAKE: 'off', ...settings };
    const relays = [1, 2].map(() =>
      spawn(process.execPath, [path.join(root, 'dist/apps/relay/main.js')], {
        env,
        stdio: ['ignore', 'pipe', 'inherit'],
      }),
    );
    const [a, b] = (await Promise.all(relays.map(addressOf))) as [string, string];
    const asked = request(`${b}/streams/s/ops`, { headers: { accept: 'text/event-stream' }, agent: false });
    asked.end();
    const [events] = (await once(asked, 'response')) as [IncomingMessage];
    return new RelayDelivery(name, relays, `${a}/streams/s/ops`, events);
  }

  async deliver(): Promise<number> {
    const body = encodePush([anOp({ opId: `op-${++this.#sent}` })]);
    const arrived = new Promise<number>((resolve) => (this.#arrived = resolve));
    const startMs = nowMs();
    const [atMs] = await Promise.all([arrived, this.#push(body)]);
    return atMs - startMs;
  }

  verify(): number {
    return inOrder(this.#seen, this.#sent);
  }

  async close(): Promise<void> {
    this.#events.destroy();
    this.#agent.destroy();
    for (const relay of this.#relays) relay.kill();
    await Promise.all(this.#relays.map((relay) => once(relay, 'exit')));
  }

  async #push(body: string): Promise<void> {
    const headers = { 'content-type': 'application/json' };
    const asked = request(this.#pushTo, { method: 'POST', headers, agent: this.#agent });
    asked.end(body);
    const [answer] = (await once(asked, 'response')) as [IncomingMessage];
    if (answer.statusCode !== 200) throw new Error(`the push is answered ${answer.statusCode}`);
    answer.resume();
    await once(answer, 'end');
  }

  #read(block: string): void {
    const data = /^id: \d+\ndata: (.*)$/.exec(block)?.[1];
    if (data === undefined) return;
    const atMs = nowMs();
    const { ops } = JSON.parse(data) as { ops: { op_id: string }[] };
    this.#seen.push(...ops.map(({ op_id }) => op_id));
    this.#arrived(atMs);
  }
}

async function addressOf(relay: ChildProcess): Promise<string> {
  let written = '';
  for await (const chunk of relay.stdout!.iterator({ destroyOnReturn: false })) {
    written += String(chunk);
    const address = /"address":"(http:[^"]+)"/.exec(written)?.[1];
    if (address === undefined) continue;
    relay.stdout!.resume();
    return address;
  }
  throw new Error(`a relay ended: ${written}`);
}
