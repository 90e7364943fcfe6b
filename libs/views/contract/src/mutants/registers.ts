import { MemoryViews } from '../memory-views.ts';
import type { RegisterChange, RegisterVersion, ViewChange } from '../views.ts';
import type { Mutants, Opener } from './opener.ts';

type Rule = RegisterChange['rule'];

/** Changes what a `higher` register compares. */
function comparing(seen: (version: RegisterVersion) => RegisterVersion): Opener {
  class Comparing extends MemoryViews {
    protected override beats(a: RegisterVersion, b: RegisterVersion, rule: Rule): boolean {
      return rule === 'higher' ? super.beats(seen(a), seen(b), rule) : super.beats(a, b, rule);
    }
  }
  return (store) => new Comparing(store);
}

class TakesLowerForHigher extends MemoryViews {
  protected override wins(change: RegisterChange, stored: Parameters<MemoryViews['wins']>[1]): boolean {
    return super.wins(change.shape === 'register' ? { ...change, rule: 'higher' } : change, stored);
  }
}

class LaterSeqWinsFirst extends MemoryViews {
  protected override beats(a: RegisterVersion, b: RegisterVersion, rule: Rule): boolean {
    if (rule === 'higher') return super.beats(a, b, rule);
    return super.beats({ ...a, seq: -a.seq }, { ...b, seq: -b.seq }, rule);
  }
}

class ComparesDigits extends MemoryViews {
  protected override beats(a: RegisterVersion, b: RegisterVersion, rule: Rule): boolean {
    if (rule === 'lower' || a.lamport < 0n || b.lamport < 0n) return super.beats(a, b, rule);
    const digits = (v: RegisterVersion) => [v.rank, v.lamport, v.site].map(String).join(' ');
    return digits(a) === digits(b) ? a.seq < b.seq : digits(a) > digits(b);
  }
}

class LastOfACallWins extends MemoryViews {
  override async apply(stream: string, epoch: number, changes: readonly ViewChange[]): Promise<void> {
    const cell = (change: ViewChange) =>
      change.shape === 'register' ? [change.kind, change.id, change.field, change.member] : change;
    const texts = (_: string, part: unknown) => (typeof part === 'bigint' ? String(part) : part);
    const last = new Map(changes.map((change) => [JSON.stringify(cell(change), texts), change]));
    await super.apply(stream, epoch, [...last.values()]);
  }
}

class OneVersionPerDocument extends MemoryViews {
  protected override write(stream: string, epoch: number, change: ViewChange): void {
    const fields = this.rows(stream, epoch, change.kind).get(change.id) ?? new Map();
    const others = [...fields].filter(([name]) => name !== change.field && change.shape === 'register');
    const versions = others.flatMap(([, { members }]) => members.get('')?.version ?? []);
    const lamport = change.effect === 'register' ? change.version.lamport : 0n;
    if (!versions.some((version) => version.lamport > lamport)) super.write(stream, epoch, change);
  }
}

const doubles = (value: bigint) => BigInt(Number(value));
const magnitude = (value: bigint) => (value < 0n ? -value : value);

export const registerMutants: Mutants = {
  ignoresRank: comparing((v) => ({ ...v, rank: 0n })),
  siteBeforeLamport: comparing((v) => ({ ...v, lamport: v.site, site: v.lamport })),
  ignoresSite: comparing((v) => ({ ...v, site: 0n })),
  laterSeqWinsTies: comparing((v) => ({ ...v, seq: -v.seq })),
  takesLowerForHigher: (store) => new TakesLowerForHigher(store),
  laterSeqWinsFirst: (store) => new LaterSeqWinsFirst(store),
  comparesDigits: (store) => new ComparesDigits(store),
  comparesMagnitudes: comparing((v) => ({ ...v, lamport: magnitude(v.lamport) })),
  roundsToDoubles: comparing((v) => ({ ...v, lamport: doubles(v.lamport), site: doubles(v.site) })),
  lastOfACallWins: (store) => new LastOfACallWins(store),
  oneVersionPerDocument: (store) => new OneVersionPerDocument(store),
};
