import type { Op } from '@tidemark/libs-wire';
import type { AppendOutcome, ChangePage, ReadPage, StreamHead } from '../op-store.ts';
import { type MemoryOpLog, MemoryOpStore } from '../memory-op-store.ts';
import type { OpStoreMutants } from './op-store.ts';

type Outcomes = Promise<readonly AppendOutcome[]>;

/** Lets other handles run for a while. */
async function others(turns: number): Promise<void> {
  for (let i = 0; i < turns; i++) await Promise.resolve();
}

/** Every second append of a log is stored at once but shown late; per log, what is not shown yet. */
class Lagging extends MemoryOpStore {
  static readonly #hidden = new WeakMap<MemoryOpLog, Set<string>>();
  #appends = 0;

  protected get hidden(): Set<string> {
    const hidden = Lagging.#hidden.get(this.log) ?? new Set();
    Lagging.#hidden.set(this.log, hidden);
    return hidden;
  }

  protected async late(what: string): Promise<void> {
    if (this.#appends++ % 2 === 1) return;
    this.hidden.add(what);
    await others(25);
    this.hidden.delete(what);
  }
}

export const sharingMutants: OpStoreMutants = {
  'takes-the-seq-before-the-write': class extends MemoryOpStore {
    override async append(stream: string, ops: readonly Op[]): Outcomes {
      const [op] = ops;
      if (op === undefined || ops.length > 1) return super.append(stream, ops);
      const seq = this.storedAt(stream, op.opId) ?? this.nextSeq(stream);
      await this.ping();
      if (this.storedAt(stream, op.opId) !== undefined) return [{ kind: 'existing', seq }];
      this.place(stream, seq, op);
      return [{ kind: 'stored', seq }];
    }
  },
  'looks-for-the-op-id-before-the-write': class extends MemoryOpStore {
    override async append(stream: string, ops: readonly Op[]): Outcomes {
      const outcomes: AppendOutcome[] = [];
      for (const op of ops) {
        const existing = this.storedAt(stream, op.opId);
        await this.ping();
        const seq = existing ?? this.nextSeq(stream);
        if (existing === undefined) this.place(stream, seq, op);
        outcomes.push({ kind: existing === undefined ? 'stored' : 'existing', seq });
      }
      return outcomes;
    }
  },
  'shows-a-later-op-first': class extends Lagging {
    override async append(stream: string, ops: readonly Op[]): Outcomes {
      const outcomes = await super.append(stream, ops);
      await this.late(`${stream} ${outcomes[0]?.seq}`);
      return outcomes;
    }
    override async read(stream: string, after: bigint, limit: number, bytesMax?: number): Promise<ReadPage> {
      const page = await super.read(stream, after, limit, bytesMax);
      return { ...page, ops: page.ops.filter(({ seq }) => !this.hidden.has(`${stream} ${seq}`)) };
    }
  },
  'passes-a-change-in-flight': class extends Lagging {
    override async append(stream: string, ops: readonly Op[]): Outcomes {
      const outcomes = await super.append(stream, ops);
      await this.late(stream);
      return outcomes;
    }
    override async changes(position: string, limit: number): Promise<ChangePage> {
      const page = await super.changes(position, limit);
      return { ...page, changed: page.changed.filter(({ stream }) => !this.hidden.has(stream)) };
    }
  },
  'forgets-on-close': class extends MemoryOpStore {
    override async close(): Promise<void> {
      this.log.streams.clear();
      await super.close();
    }
  },
  'answers-after-close': class extends MemoryOpStore {
    override async close(): Promise<void> {}
  },
  'tells-changes-after-close': class extends MemoryOpStore {
    override async position(): Promise<string> {
      return String(this.log.journal.length);
    }
  },
  'sorts-streams-by-utf16': class extends MemoryOpStore {
    override async streams(after: string | null, limit: number): Promise<readonly StreamHead[]> {
      const all = await super.streams(after, Infinity);
      return [...all].sort((a, b) => (a.stream < b.stream ? -1 : 1)).slice(0, limit);
    }
  },
  'names-the-given-stream-again': class extends MemoryOpStore {
    override async streams(after: string | null, limit: number): Promise<readonly StreamHead[]> {
      const above = await super.streams(after, limit);
      const again = after === null ? 0n : this.headOf(after);
      return again === 0n ? above : [{ stream: after as string, head: again }, ...above].slice(0, limit);
    }
  },
  'lists-the-count-of-ops': class extends MemoryOpStore {
    override async streams(after: string | null, limit: number): Promise<readonly StreamHead[]> {
      const listed = await super.streams(after, limit);
      return listed.map(({ stream }) => ({ stream, head: BigInt(this.log.streams.get(stream)?.ops.length ?? 0) }));
    }
  },
  'names-new-streams-alone': class extends MemoryOpStore {
    #known: ReadonlySet<string> = new Set();
    override async position(): Promise<string> {
      this.#known = new Set(this.log.journal);
      return super.position();
    }
    override async changes(position: string, limit: number): Promise<ChangePage> {
      const page = await super.changes(position, limit);
      return { ...page, changed: page.changed.filter(({ stream }) => !this.#known.has(stream)) };
    }
  },
  'moves-an-idle-position': class extends MemoryOpStore {
    override async changes(position: string, limit: number): Promise<ChangePage> {
      const page = await super.changes(position, limit);
      return page.position === '0' ? { ...page, position: '00' } : page;
    }
  },
  'drops-changes-above-the-limit': class extends MemoryOpStore {
    override async changes(position: string, limit: number): Promise<ChangePage> {
      const end = String(this.log.journal.length);
      return { ...(await super.changes(position, limit)), position: end };
    }
  },
  'names-a-change-once': class extends MemoryOpStore {
    #named = 0;
    override async changes(position: string, limit: number): Promise<ChangePage> {
      const page = await super.changes(String(Math.max(Number(position), this.#named)), limit);
      this.#named = Number(page.position);
      return page;
    }
  },
};
