import { setTimeout as sleep } from 'node:timers/promises';
import type { JsonValue } from '@tidemark/libs-wire';
import { FRONT } from './front.ts';
import { type Ledger, type LoggedOp, documentKey } from './ledger.ts';
import type { Clients } from './load.ts';

export interface Outside {
  readonly clients: Clients;
  /** Through the front of the relays. */
  readonly relayFetch: typeof fetch;
  readonly signal: AbortSignal;
}

const KINDS: Readonly<Record<string, string>> = { '0.events': 'events' };
const kindOf = (stream: string) => KINDS[stream] ?? 'notes';

/** Resolves when no event waits for the intake any more. */
export async function intakeDone({ relayFetch, signal }: Outside): Promise<void> {
  for (;;) {
    const answer = await relayFetch(`${FRONT}/v1/intake?wait=10`, { signal }).catch(() => null);
    if (answer?.ok && ((await answer.json()) as { pending: number }).pending === 0) return;
    signal.throwIfAborted();
    await sleep(200, undefined, { signal });
  }
}

/** Resolves when the mark of every stream of the ledger is its head. */
export async function folded({ clients, signal }: Outside, ledger: Ledger): Promise<void> {
  for (const stream of ledger.streams) {
    const { head } = await clients.relay.describe(stream, { signal });
    await clients.fold.waitFor(stream, head, { signal });
  }
}

/** Reads the log of a stream from its begin. */
export async function readLog({ clients, signal }: Outside, stream: string): Promise<LoggedOp[]> {
  const ops: LoggedOp[] = [];
  for await (const page of clients.relay.pages(stream, 0n, { signal })) ops.push(...page.ops);
  return ops;
}

/** Every document of a stream. */
export async function readView(
  { clients, signal }: Outside,
  stream: string,
): Promise<Map<string, JsonValue | undefined>> {
  const view = new Map<string, JsonValue | undefined>();
  const kind = kindOf(stream);
  for (let after: string | undefined; ;) {
    const page = await clients.fold.documents(stream, kind, { signal, ...(after !== undefined && { after }) });
    if (page.kind === 'late') throw new Error(`${stream}: late without a seq to wait for`);
    for (const { id, fields } of page.documents) view.set(documentKey(kind, id), fields.get('body'));
    if (page.next === null) return view;
    after = page.next;
  }
}

/** What the demo left behind counts as accepted too: it must still be there in the end. */
export async function addDemo(outside: Outside, ledger: Ledger): Promise<void> {
  const stream = '0.events';
  for await (const page of outside.clients.relay.pages(stream, 0n, { signal: outside.signal }))
    for (const { opId, targetKind, targetId, value } of page.ops)
      ledger.add({ stream, opId, kind: targetKind, id: targetId, body: value ?? '' });
}
