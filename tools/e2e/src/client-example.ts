// What docs/protocol/client.md shows. Run it: node tools/e2e/src/client-example.ts http://127.0.0.1:8787
import { type RelayClient, connectRelay, worldOf } from '@tidemark/libs-client';
import type { Op } from '@tidemark/libs-wire';

const STREAM = 'groceries';

/** A device with ops of its own, and what it knows of everybody's. A real one keeps all three on disk. */
class Device {
  unpushed: Op[] = [];
  cursor = 0n;
  readonly items = new Map<string, string>();

  write(site: bigint, item: string, title: string): void {
    const lamport = BigInt(this.items.size + this.unpushed.length + 1);
    this.unpushed.push({
      envelopeVersion: 1,
      opId: `${site}-${lamport}`,
      lamport,
      site,
      domain: 'task',
      targetKind: 'item',
      targetId: item,
      field: 'title',
      opType: 'set',
      value: title,
      author: 'mira',
      wallClock: '',
      extra: '{}',
    });
  }

  async sync(relay: RelayClient): Promise<void> {
    const pushed = await relay.push(STREAM, this.unpushed);
    this.unpushed.splice(0, pushed.stored);
    if (pushed.kind === 'op_refused') this.unpushed.shift(); // Tell its author: nobody will see it.
    if (pushed.kind === 'interrupted') console.warn(`pushing again later: ${pushed.error.message}`);
    for await (const page of relay.pages(STREAM, this.cursor)) {
      for (const op of page.ops) this.items.set(op.targetId, op.value ?? '');
      this.cursor = page.next; // Only now: after a crash before this line the page comes again.
    }
  }
}

const relay = connectRelay({ ...worldOf(globalThis), url: process.argv[2] ?? 'http://127.0.0.1:8787' });
const [phone, laptop] = [new Device(), new Device()];
phone.write(1n, 'flour', 'Order flour');
laptop.write(2n, 'yeast', 'Buy yeast');
await phone.sync(relay);
await laptop.sync(relay);
await phone.sync(relay);
for (const [item, title] of phone.items) console.log(`${item}: ${title}`);
