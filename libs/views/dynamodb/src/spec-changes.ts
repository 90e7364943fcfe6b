import { NOTHING_FOLDED, type RegisterChange, type RemoveChange, type Views } from '@tidemark/libs-views-contract';

export const STREAM = '0.events';

export function change(id: string, lamport: number, parts: Partial<RegisterChange> = {}): RegisterChange {
  const version = { rank: 0n, lamport: BigInt(lamport), site: 0n, seq: BigInt(lamport) };
  const cell = { kind: 'events', id, field: 'body', shape: 'register', member: '' } as const;
  return { effect: 'register', ...cell, value: String(lamport), rule: 'higher', version, ...parts };
}

/** Adds of the members, to a set. */
export function adds(id: string, members: readonly string[]): RegisterChange[] {
  return members.map((member) => change(id, 1, { field: 'labels', shape: 'set', member, rule: 'lower' }));
}

export function remove(id: string, member: string): RemoveChange {
  return { effect: 'remove', kind: 'events', id, field: 'labels', shape: 'set', member, seq: 9n };
}

export async function show(views: Views): Promise<void> {
  await views.saveMark(STREAM, 1, NOTHING_FOLDED, 0, new Map());
}

export async function bodyOf(views: Views, id: string): Promise<string | undefined> {
  return (await views.document(STREAM, 'events', id))?.fields.get('body')?.members.get('')?.value;
}

export function tags(count: number): string[] {
  return Array.from({ length: count }, (_, at) => `tag-${String(at).padStart(3, '0')}`);
}
