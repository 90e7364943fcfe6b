import type { RegisterChange, Views } from '@tidemark/libs-views-contract';

export const STREAM = '0.events';

export function change(id: string, lamport: number, parts: Partial<RegisterChange> = {}): RegisterChange {
  const version = { rank: 0n, lamport: BigInt(lamport), site: 0n, seq: BigInt(lamport) };
  const cell = { kind: 'events', id, field: 'body', shape: 'register', member: '' } as const;
  return { effect: 'register', ...cell, value: String(lamport), rule: 'higher', version, ...parts };
}

export async function bodyOf(views: Views, id: string): Promise<string | undefined> {
  return (await views.document(STREAM, 'events', id))?.fields.get('body')?.members.get('')?.value;
}
