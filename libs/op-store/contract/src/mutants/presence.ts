import { compareUtf8 } from '@tidemark/libs-kernel';
import { type MemoryRows, MemoryPresenceBoard } from '../memory-presence-board.ts';
import type { Announcement, PresentMachine, PresentMachines } from '../presence-board.ts';

/** A board that keeps another row than was announced. */
abstract class Keeping extends MemoryPresenceBoard {
  override async announce(
    stream: string,
    hello: Announcement,
    nowSecs: bigint,
    forgetBeforeSecs: bigint,
  ): Promise<void> {
    const before = this.rows.get(stream)?.get(hello.machineId);
    const { lastSeenSecs, ...kept } = this.keep({ ...hello, lastSeenSecs: nowSecs }, before);
    await super.announce(stream, kept, lastSeenSecs, forgetBeforeSecs);
  }

  protected abstract keep(row: PresentMachine, before: PresentMachine | undefined): PresentMachine;
}

/** Broken boards by the name in a case's `kills`. */
export const presenceMutants: Readonly<Record<string, new (rows: MemoryRows) => MemoryPresenceBoard>> = {
  'sorts-ids-without-case': class extends MemoryPresenceBoard {
    override async machines(stream: string, seenSinceSecs: bigint, limit: number): Promise<PresentMachines> {
      const page = await super.machines(stream, seenSinceSecs, limit);
      return { ...page, machines: [...page.machines].sort(withoutCase) };
    }
  },
  'cuts-a-long-name': class extends Keeping {
    protected keep(row: PresentMachine): PresentMachine {
      return { ...row, name: row.name.slice(0, 32) };
    }
  },
  'never-says-truncated': class extends MemoryPresenceBoard {
    override async machines(stream: string, seenSinceSecs: bigint, limit: number): Promise<PresentMachines> {
      return { ...(await super.machines(stream, seenSinceSecs, limit)), truncated: false };
    }
  },
  'says-truncated-at-the-limit': class extends MemoryPresenceBoard {
    override async machines(stream: string, seenSinceSecs: bigint, limit: number): Promise<PresentMachines> {
      const page = await super.machines(stream, seenSinceSecs, limit);
      return { ...page, truncated: page.machines.length === limit };
    }
  },
  'leaves-out-the-first-second': class extends MemoryPresenceBoard {
    override async machines(stream: string, seenSinceSecs: bigint, limit: number): Promise<PresentMachines> {
      return super.machines(stream, seenSinceSecs + 1n, limit);
    }
  },
  'keeps-the-first-name': class extends Keeping {
    protected keep(row: PresentMachine, before?: PresentMachine): PresentMachine {
      return { ...row, name: before?.name ?? row.name };
    }
  },
  'keeps-the-later-time': class extends Keeping {
    protected keep(row: PresentMachine, before?: PresentMachine): PresentMachine {
      return before !== undefined && before.lastSeenSecs > row.lastSeenSecs
        ? { ...row, lastSeenSecs: before.lastSeenSecs }
        : row;
    }
  },
  'never-forgets': class extends MemoryPresenceBoard {
    override async announce(stream: string, hello: Announcement, nowSecs: bigint): Promise<void> {
      await super.announce(stream, hello, nowSecs, 0n);
    }
  },
  'forgets-in-every-stream': class extends MemoryPresenceBoard {
    override async announce(
      stream: string,
      hello: Announcement,
      nowSecs: bigint,
      forgetBeforeSecs: bigint,
    ): Promise<void> {
      for (const other of this.rows.keys()) {
        await super.announce(other, hello, nowSecs, forgetBeforeSecs);
        if (other !== stream) this.rows.get(other)?.delete(hello.machineId);
      }
      await super.announce(stream, hello, nowSecs, forgetBeforeSecs);
    }
  },
  'shows-another-board-for-an-unknown-stream': class extends MemoryPresenceBoard {
    override async machines(stream: string, seenSinceSecs: bigint, limit: number): Promise<PresentMachines> {
      const [any = ''] = this.rows.keys();
      return super.machines(this.rows.has(stream) ? stream : any, seenSinceSecs, limit);
    }
  },
  'forgets-on-open': class extends MemoryPresenceBoard {
    constructor(rows: MemoryRows) {
      rows.clear();
      super(rows);
    }
  },
};

function withoutCase(a: PresentMachine, b: PresentMachine): number {
  if (a.lastSeenSecs !== b.lastSeenSecs) return a.lastSeenSecs < b.lastSeenSecs ? 1 : -1;
  return compareUtf8(a.machineId.toLowerCase(), b.machineId.toLowerCase());
}
