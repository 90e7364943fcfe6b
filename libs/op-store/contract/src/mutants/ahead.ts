import type { SeenOp } from '../op-store.ts';
import { MemoryOpStore } from '../memory-op-store.ts';
import type { OpStoreMutants } from './op-store.ts';

export const aheadMutants: OpStoreMutants = {
  'ends-a-look-ahead-at-a-hole': class extends MemoryOpStore {
    override async readAhead(...asked: Parameters<MemoryOpStore['readAhead']>): Promise<readonly SeenOp[]> {
      const ahead = await super.readAhead(...asked);
      const end = ahead.findIndex(({ seq }, at) => at > 0 && seq !== (ahead[at - 1]?.seq ?? 0n) + 1n);
      return end === -1 ? ahead : ahead.slice(0, end);
    }
  },
  'looks-ahead-without-bound': class extends MemoryOpStore {
    override async readAhead(stream: string, after: bigint, limit: number): Promise<readonly SeenOp[]> {
      return super.readAhead(stream, after, limit, Infinity);
    }
  },
  'leaves-out-what-it-cannot-read': class extends MemoryOpStore {
    override async readAhead(...asked: Parameters<MemoryOpStore['readAhead']>): Promise<readonly SeenOp[]> {
      return (await super.readAhead(...asked)).filter(({ op }) => op !== null);
    }
  },
  'proves-nothing-at-the-end': class extends MemoryOpStore {
    override async burnedThrough(stream: string, after: bigint): Promise<bigint> {
      const isEnd = (await super.readAhead(stream, after, 1)).length === 0;
      return isEnd ? after : super.burnedThrough(stream, after);
    }
  },
  'proves-what-is-to-come': class extends MemoryOpStore {
    override async burnedThrough(stream: string, after: bigint): Promise<bigint> {
      const through = await super.burnedThrough(stream, after);
      const isWritten = (this.log.streams.get(stream)?.ops.length ?? 0) > 0;
      return isWritten && after === this.headOf(stream) ? through + 1n : through;
    }
  },
  'proves-an-op-burned': class extends MemoryOpStore {
    override async burnedThrough(stream: string, after: bigint): Promise<bigint> {
      const through = await super.burnedThrough(stream, after);
      return through > after && through < this.headOf(stream) ? through + 1n : through;
    }
  },
  'finds-the-newest-op-alone': class extends MemoryOpStore {
    override async seqOf(stream: string, opId: string): Promise<bigint | null> {
      const seq = await super.seqOf(stream, opId);
      return seq === this.headOf(stream) ? seq : null;
    }
  },
  'takes-the-head-for-a-floor': class extends MemoryOpStore {
    override async floor(stream: string): Promise<bigint> {
      return (await super.floor(stream)) || this.headOf(stream);
    }
  },
};
