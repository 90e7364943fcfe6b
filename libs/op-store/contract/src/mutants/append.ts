import type { Op } from '@tidemark/libs-wire';
import type { AppendOutcome } from '../op-store.ts';
import { MemoryOpStore } from '../memory-op-store.ts';
import type { OpStoreMutants } from './op-store.ts';

type Outcomes = Promise<readonly AppendOutcome[]>;

/** A store that loses seqs; mutants say when. */
class Burning extends MemoryOpStore {
  readonly #burned = new Map<string, bigint>();

  protected burn(stream: string): void {
    this.#burned.set(stream, (this.#burned.get(stream) ?? 0n) + 1n);
  }

  protected override nextSeq(stream: string): bigint {
    const seq = super.nextSeq(stream) + (this.#burned.get(stream) ?? 0n);
    this.#burned.delete(stream);
    return seq;
  }
}

export const appendMutants: OpStoreMutants = {
  'burns-a-seq-after-a-long-call': class extends Burning {
    override async append(stream: string, ops: readonly Op[]): Outcomes {
      const outcomes = await super.append(stream, ops);
      if (ops.length > 3) this.burn(stream);
      return outcomes;
    }
  },
  'burns-a-seq-on-an-empty-call': class extends Burning {
    override async append(stream: string, ops: readonly Op[]): Outcomes {
      if (ops.length === 0) this.burn(stream);
      return super.append(stream, ops);
    }
  },
  'burns-a-seq-on-a-repeat': class extends Burning {
    protected override storedAt(stream: string, opId: string): bigint | undefined {
      const existing = super.storedAt(stream, opId);
      if (existing !== undefined) this.burn(stream);
      return existing;
    }
  },
  'counts-all-streams-together': class extends MemoryOpStore {
    protected override nextSeq(stream: string): bigint {
      return super.nextSeq(stream) + BigInt(this.log.journal.filter((other) => other !== stream).length);
    }
  },
  'counts-ops-instead-of-seqs': class extends MemoryOpStore {
    protected override nextSeq(stream: string): bigint {
      return BigInt((this.log.streams.get(stream)?.ops.length ?? 0) + 1);
    }
  },
  'stores-500-ops-a-call': class extends MemoryOpStore {
    override async append(stream: string, ops: readonly Op[]): Outcomes {
      return super.append(stream, ops.slice(0, 500));
    }
  },
  'sorts-a-call-by-op-id': class extends MemoryOpStore {
    override async append(stream: string, ops: readonly Op[]): Outcomes {
      const byId = (a: Op, b: Op): number => a.opId.localeCompare(b.opId, 'en', { numeric: true });
      return super.append(stream, [...ops].sort(byId));
    }
  },
  'answers-the-head-on-a-repeat': class extends MemoryOpStore {
    protected override storedAt(stream: string, opId: string): bigint | undefined {
      return super.storedAt(stream, opId) === undefined ? undefined : this.headOf(stream);
    }
  },
  'stores-a-repeat-inside-a-call': class extends MemoryOpStore {
    override async append(stream: string, ops: readonly Op[]): Outcomes {
      await this.ping();
      const known = ops.map((op) => this.storedAt(stream, op.opId));
      return ops.map((op, i) => {
        const existing = known[i];
        if (existing !== undefined) return { kind: 'existing', seq: existing };
        const seq = this.nextSeq(stream);
        this.place(stream, seq, op);
        return { kind: 'stored', seq };
      });
    }
  },
  'keeps-the-last-content': class extends MemoryOpStore {
    override async append(stream: string, ops: readonly Op[]): Outcomes {
      const outcomes = await super.append(stream, ops);
      const held = this.log.streams.get(stream)?.ops ?? [];
      outcomes.forEach(({ seq }, i) => {
        const at = held.findIndex((other) => other.seq === seq);
        held[at] = { seq, op: ops[i] as Op };
      });
      return outcomes;
    }
  },
  'knows-op-ids-of-all-streams': class extends MemoryOpStore {
    protected override storedAt(stream: string, opId: string): bigint | undefined {
      const seqs = [...this.log.streams.keys()].map((name) => super.storedAt(name, opId));
      return super.storedAt(stream, opId) ?? seqs.find((seq) => seq !== undefined);
    }
  },
};
