import type { AppendOutcome, AppendWatch, StreamState } from '../op-store.ts';
import type { Op } from '@tidemark/libs-wire';
import { MemoryOpStore } from '../memory-op-store.ts';
import type { OpStoreMutants } from './op-store.ts';

export const erasingMutants: OpStoreMutants = {
  'calls-the-head-burned': class extends MemoryOpStore {
    override async describe(stream: string): Promise<StreamState> {
      const { head, burned } = await super.describe(stream);
      return { head, burned: burned === 0n ? head : burned };
    }
  },
  'sees-no-gaps': class extends MemoryOpStore {
    override async describe(stream: string): Promise<StreamState> {
      const { head, burned } = await super.describe(stream);
      return { head, burned: burned === head ? burned : 0n };
    }
  },
  'erases-the-oldest-op-alone': class extends MemoryOpStore {
    override async erase(stream: string): Promise<bigint> {
      const ops = this.log.streams.get(stream)?.ops ?? [];
      // Enough for the other cases, whose streams are short.
      if (ops.length !== 12) return super.erase(stream);
      ops.shift();
      return 12n;
    }
  },
  'counts-the-erased-again': class extends MemoryOpStore {
    readonly #erased = new Map<string, bigint>();

    override async erase(stream: string): Promise<bigint> {
      const erased = await super.erase(stream);
      if (erased > 0n) this.#erased.set(stream, erased);
      return this.#erased.get(stream) ?? 0n;
    }
  },
  'erases-what-begins-alike': class extends MemoryOpStore {
    override async erase(stream: string): Promise<bigint> {
      for (const other of [...this.log.streams.keys()]) {
        if (other !== stream && other.startsWith(stream)) await super.erase(other);
      }
      return super.erase(stream);
    }
  },
  'begins-an-erased-stream-anew': class extends MemoryOpStore {
    override async erase(stream: string): Promise<bigint> {
      const many = (this.log.streams.get(stream)?.ops.length ?? 0) > 4;
      const erased = await super.erase(stream);
      if (many) this.log.erased.delete(stream);
      return erased;
    }
  },
  'remembers-erased-op-ids': class extends MemoryOpStore {
    readonly #erased = new Map<string, bigint>();

    override async erase(stream: string): Promise<bigint> {
      for (const [opId, seq] of this.log.streams.get(stream)?.seqs ?? []) this.#erased.set(`${stream} ${opId}`, seq);
      return super.erase(stream);
    }

    protected override storedAt(stream: string, opId: string): bigint | undefined {
      return super.storedAt(stream, opId) ?? this.#erased.get(`${stream} ${opId}`);
    }
  },
  'forgets-followers-on-erase': class extends MemoryOpStore {
    override async erase(stream: string): Promise<bigint> {
      const kept = this.log.journal.filter((one) => one !== stream);
      this.log.journal.splice(0, this.log.journal.length, ...kept);
      return super.erase(stream);
    }
  },
  'tells-of-its-own-appends-alone': class extends MemoryOpStore {
    readonly #own = new Set<string>();

    override async append(stream: string, ops: readonly Op[]): Promise<readonly AppendOutcome[]> {
      this.#own.add(stream);
      return super.append(stream, ops);
    }

    override watch(onAppend: (stream: string) => void): Promise<AppendWatch | null> {
      return super.watch((stream) => void (this.#own.has(stream) && onAppend(stream)));
    }
  },
  'tells-of-the-first-stream-alone': class extends MemoryOpStore {
    override watch(onAppend: (stream: string) => void): Promise<AppendWatch | null> {
      let first: string | undefined;
      return super.watch((stream) => void ((first ??= stream) === stream && onAppend(stream)));
    }
  },
};
