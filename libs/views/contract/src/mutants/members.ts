import { type MemoryMembers, MemoryViews } from '../memory-views.ts';
import type { Document, ViewChange } from '../views.ts';
import type { Mutants } from './opener.ts';

class OneVersionPerField extends MemoryViews {
  protected override write(stream: string, epoch: number, change: ViewChange): void {
    const members = this.rows(stream, epoch, change.kind).get(change.id)?.get(change.field)?.members ?? new Map();
    const lamport = change.effect === 'register' ? change.version.lamport : 0n;
    const isOlder = [...members.values()].some((member) => member !== null && member.version.lamport > lamport + 3n);
    if (!isOlder || members.has(change.member)) super.write(stream, epoch, change);
  }
}

class IgnoresRemoves extends MemoryViews {
  protected override remove(): void {}
}

class ForgetsEarlyRemoves extends MemoryViews {
  protected override remove(members: MemoryMembers, member: string): void {
    if (members.has(member)) super.remove(members, member);
  }
}

class RevivesRemoved extends MemoryViews {
  /** Removes that came before their add are remembered, the others with the next one only. */
  protected override remove(members: MemoryMembers, member: string): void {
    if (members.get(member)) members.delete(member);
    else super.remove(members, member);
  }
}

class ShowsEmptyDocuments extends MemoryViews {
  protected override documentOf(stream: string, epoch: number, kind: string, id: string): Document | null {
    const isThere = this.rows(stream, epoch, kind).has(id);
    return super.documentOf(stream, epoch, kind, id) ?? (isThere ? { kind, id, fields: new Map() } : null);
  }
}

class ForgetsShapes extends MemoryViews {
  protected override write(stream: string, epoch: number, change: ViewChange): void {
    super.write(stream, epoch, { ...change, shape: 'register' });
  }
}

class JoinsFieldAndMember extends MemoryViews {
  protected override write(stream: string, epoch: number, change: ViewChange): void {
    const [field, ...member] = `${change.field}#${change.member}`.split('#');
    const joined = { ...change, field: field!, member: member.join('#') };
    super.write(stream, epoch, change.shape === 'set' ? joined : change);
  }
}

class RemovesTheField extends MemoryViews {
  protected override remove(members: MemoryMembers, member: string): void {
    super.remove(members, member);
    if (members.has('b') && !members.has('x')) for (const other of members.keys()) members.set(other, null);
  }
}

class TakesLoneSurrogates extends MemoryViews {
  protected override assertStorable(): void {}
}

export const memberMutants: Mutants = {
  oneVersionPerField: (store) => new OneVersionPerField(store),
  ignoresRemoves: (store) => new IgnoresRemoves(store),
  forgetsEarlyRemoves: (store) => new ForgetsEarlyRemoves(store),
  revivesRemoved: (store) => new RevivesRemoved(store),
  showsEmptyDocuments: (store) => new ShowsEmptyDocuments(store),
  forgetsShapes: (store) => new ForgetsShapes(store),
  joinsFieldAndMember: (store) => new JoinsFieldAndMember(store),
  removesTheField: (store) => new RemovesTheField(store),
  takesLoneSurrogates: (store) => new TakesLoneSurrogates(store),
};
