import { connectRelay, worldOf } from '@tidemark/libs-client';
import type { Op } from '@tidemark/libs-wire';
import type { Site } from './launcher.ts';

/** Every op of a stream, pulled as a client would. */
export async function pullAll(site: Site, stream: string): Promise<Op[]> {
  const relay = connectRelay({ ...worldOf(globalThis), url: site.urls.relay });
  const ops: Op[] = [];
  for await (const page of relay.pages(stream, 0n)) ops.push(...page.ops);
  return ops;
}

export interface FoldedDocument {
  readonly id: string;
  readonly fields: { readonly body: unknown };
}

/** Every folded document of a kind, by id. */
export async function readViews(site: Site, stream: string, kind: string): Promise<Map<string, FoldedDocument>> {
  const documents = new Map<string, FoldedDocument>();
  for (let after: string | null = null; ;) {
    const query: string = after === null ? '' : `&after=${encodeURIComponent(after)}`;
    const url = `${site.urls.fold}/v1/streams/${stream}/documents/${kind}?limit=500${query}`;
    const page: { documents: FoldedDocument[]; next: string | null } = await getJson(url);
    for (const document of page.documents) documents.set(document.id, document);
    if (page.next === null) return documents;
    after = page.next;
  }
}

/** What the views must hold: of each document the body of its last op. */
export function foldOf(ops: readonly Op[]): Map<string, unknown> {
  return new Map(ops.map((op) => [op.targetId, JSON.parse(op.value ?? 'null')]));
}

export async function getJson<T>(url: string): Promise<T> {
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(`${url}: ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as T;
}
