import { compareUtf8 } from '@tidemark/libs-kernel';
import type { Announcement, PresenceBoard, PresentMachine, PresentMachines } from './presence-board.ts';

/** What handles share, as processes share a database: per stream, the row of each machine. */
export type MemoryRows = Map<string, Map<string, PresentMachine>>;

export class MemoryPresenceBoard implements PresenceBoard {
  protected readonly rows: MemoryRows;

  constructor(rows: MemoryRows = new Map()) {
    this.rows = rows;
  }

  async announce(stream: string, hello: Announcement, nowSecs: bigint, forgetBeforeSecs: bigint): Promise<void> {
    const machines = this.rows.get(stream) ?? new Map<string, PresentMachine>();
    this.rows.set(stream, machines);
    const { machineId, name, intervalSecs } = hello;
    machines.set(machineId, { machineId, name, intervalSecs, lastSeenSecs: nowSecs });
    for (const { machineId: id, lastSeenSecs } of machines.values()) {
      if (lastSeenSecs < forgetBeforeSecs) machines.delete(id);
    }
  }

  async machines(stream: string, seenSinceSecs: bigint, limit: number): Promise<PresentMachines> {
    const seen = [...(this.rows.get(stream)?.values() ?? [])].filter((row) => row.lastSeenSecs >= seenSinceSecs);
    seen.sort(mostRecentFirst);
    return { machines: seen.slice(0, limit), truncated: seen.length > limit };
  }
}

function mostRecentFirst(a: PresentMachine, b: PresentMachine): number {
  if (a.lastSeenSecs !== b.lastSeenSecs) return a.lastSeenSecs < b.lastSeenSecs ? 1 : -1;
  return compareUtf8(a.machineId, b.machineId);
}
