import { MemoryViews } from '../memory-views.ts';
import type { Field, RegisterVersion, ViewChange } from '../views.ts';
import type { Opener } from './opener.ts';

type Rule = ViewChange['rule'];

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
  protected override beats(a: RegisterVersion, b: RegisterVersion): boolean {
    return super.beats(a, b, 'higher');
  }
}

class ComparesDigits extends MemoryViews {
  protected override beats(a: RegisterVersion, b: RegisterVersion, rule: Rule): boolean {
    if (rule === 'lower') return super.beats(a, b, rule);
    const digits = (v: RegisterVersion) => [v.rank, v.lamport, v.site].map(String).join(' ');
    return digits(a) === digits(b) ? a.seq < b.seq : digits(a) > digits(b);
  }
}

class LastOfACallWins extends MemoryViews {
  override async apply(stream: string, epoch: number, changes: readonly ViewChange[]): Promise<void> {
    const last = new Map(changes.map((change) => [JSON.stringify([change.kind, change.id, change.field]), change]));
    await super.apply(stream, epoch, [...last.values()]);
  }
}

class OneVersionPerDocument extends MemoryViews {
  protected override write(stream: string, epoch: number, change: ViewChange): void {
    const fields = this.rows(stream, epoch, change.kind).get(change.id) ?? new Map<string, Field>();
    const newer = [...fields.values()].some((field) => field.version.lamport > change.version.lamport);
    if (!newer || fields.has(change.field)) super.write(stream, epoch, change);
  }
}

const doubles = (value: bigint) => BigInt(Number(value));

export const registerMutants: Readonly<Record<string, Opener>> = {
  ignoresRank: comparing((v) => ({ ...v, rank: 0n })),
  siteBeforeLamport: comparing((v) => ({ ...v, lamport: v.site, site: v.lamport })),
  ignoresSite: comparing((v) => ({ ...v, site: 0n })),
  laterSeqWinsTies: comparing((v) => ({ ...v, seq: -v.seq })),
  takesLowerForHigher: (store) => new TakesLowerForHigher(store),
  comparesDigits: (store) => new ComparesDigits(store),
  roundsToDoubles: comparing((v) => ({ ...v, lamport: doubles(v.lamport), site: doubles(v.site) })),
  lastOfACallWins: (store) => new LastOfACallWins(store),
  oneVersionPerDocument: (store) => new OneVersionPerDocument(store),
};
