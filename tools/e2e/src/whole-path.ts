import type { Site } from './launcher.ts';

export interface LoggedOp {
  readonly op_id: string;
  readonly target_kind: string;
  readonly target_id: string;
  readonly value: string;
}

/** Every op of a stream, pulled as a client would. */
export async function pullAll(site: Site, stream: string): Promise<LoggedOp[]> {
  const ops: LoggedOp[] = [];
  for (let since = 0; ;) {
    const page = await getJson<{ ops: LoggedOp[]; next: number }>(
      `${site.urls.relay}/streams/${stream}/ops?since=${since}`,
    );
    if (page.next === since) return ops;
    ops.push(...page.ops);
    since = page.next;
  }
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
export function foldOf(ops: readonly LoggedOp[]): Map<string, unknown> {
  return new Map(ops.map((op) => [op.target_id, JSON.parse(op.value)]));
}

export async function getJson<T>(url: string): Promise<T> {
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(`${url}: ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as T;
}
