import { Fault } from '@tidemark/libs-kernel';
import { type Op, opTextBytes } from '@tidemark/libs-wire';
import type { ReadPage } from '../op-store.ts';
import { MemoryOpStore } from '../memory-op-store.ts';
import type { OpStoreMutants } from './op-store.ts';

/** A store whose pages a mutant may change. */
abstract class Paging extends MemoryOpStore {
  override async read(stream: string, after: bigint, limit: number, bytesMax?: number): Promise<ReadPage> {
    return this.change(await super.read(stream, after, limit, bytesMax), { stream, after, limit, bytesMax });
  }

  protected abstract change(
    page: ReadPage,
    asked: { stream: string; after: bigint; limit: number; bytesMax: number | undefined },
  ): ReadPage;
}

/** A store that keeps ops differently than they came. */
function storing(keep: (op: Op) => Op): OpStoreMutants[string] {
  return class extends MemoryOpStore {
    protected override place(stream: string, seq: bigint, op: Op): void {
      super.place(stream, seq, keep(op));
    }
  };
}

const rounded = (n: bigint): bigint => BigInt(Number(n));

export const readMutants: OpStoreMutants = {
  'steps-over-an-op-at-a-page-end': class extends Paging {
    protected change(page: ReadPage, { limit }: { limit: number }): ReadPage {
      return limit > 0 && limit % 10 === 0 && page.ops.length === limit ? { ...page, next: page.next + 1n } : page;
    }
  },
  'answers-the-head-when-exhausted': class extends Paging {
    protected change(page: ReadPage, { stream, after }: { stream: string; after: bigint }): ReadPage {
      const head = this.headOf(stream);
      return head > 0n && after > head ? { ...page, next: head } : page;
    }
  },
  'raises-a-negative-cursor': class extends Paging {
    protected change(page: ReadPage): ReadPage {
      return page.next < 0n ? { ...page, next: 0n } : page;
    }
  },
  'takes-limit-0-for-no-limit': class extends MemoryOpStore {
    override async read(stream: string, after: bigint, limit: number, bytesMax?: number): Promise<ReadPage> {
      return super.read(stream, after, limit || 500, bytesMax);
    }
  },
  'ignores-the-byte-bound': class extends MemoryOpStore {
    override async read(stream: string, after: bigint, limit: number): Promise<ReadPage> {
      return super.read(stream, after, limit, Infinity);
    }
  },
  'stops-before-a-large-op': class extends Paging {
    protected change(page: ReadPage, asked: { after: bigint; bytesMax: number | undefined }): ReadPage {
      const first = page.ops[0];
      const fits = first === undefined || opTextBytes(first.op) <= (asked.bytesMax ?? Infinity);
      return fits ? page : { ops: [], next: asked.after };
    }
  },
  'shows-a-page-once': class extends Paging {
    readonly #shown = new Set<string>();
    protected change(page: ReadPage, asked: { stream: string; after: bigint; limit: number }): ReadPage {
      const key = `${asked.stream} ${asked.after} ${asked.limit}`;
      if (this.#shown.has(key)) return { ops: [], next: asked.after };
      if (page.ops.length > 0) this.#shown.add(key);
      return page;
    }
  },
  'remembers-that-a-stream-is-missing': class extends Paging {
    readonly #missing = new Set<string>();
    protected change(page: ReadPage, { stream, after }: { stream: string; after: bigint }): ReadPage {
      if (this.headOf(stream) === 0n) this.#missing.add(stream);
      return this.#missing.has(stream) ? { ops: [], next: after } : page;
    }
  },
  'remembers-the-head': class extends MemoryOpStore {
    readonly #heads = new Map<string, bigint>();
    override async head(stream: string): Promise<bigint> {
      const head = this.#heads.get(stream) ?? (await super.head(stream));
      this.#heads.set(stream, head);
      return head;
    }
  },
  'reads-seqs-as-numbers': class extends Paging {
    protected change(page: ReadPage): ReadPage {
      return { ops: page.ops.map(({ seq, op }) => ({ seq: rounded(seq), op })), next: rounded(page.next) };
    }
  },
  'serves-a-corrupt-extra-as-none': class extends MemoryOpStore {
    override async read(stream: string, after: bigint, limit: number, bytesMax?: number): Promise<ReadPage> {
      try {
        return await super.read(stream, after, limit, bytesMax);
      } catch (thrown) {
        if (thrown instanceof Fault && thrown.code === 'corrupt') return { ops: [], next: after };
        throw thrown;
      }
    }
  },
  'rounds-integers': storing((op) => ({ ...op, lamport: rounded(op.lamport), site: rounded(op.site) })),
  'stores-an-empty-value-as-null': storing((op) => ({ ...op, value: op.value || null })),
  'drops-unknown-fields': storing((op) => (op.extra.startsWith('{"') ? { ...op, extra: '{}' } : op)),
  'stores-every-domain-as-task': storing((op) => ({ ...op, domain: 'task' })),
  'normalises-text': storing((op) => ({ ...op, value: op.value?.normalize() ?? null })),
};
