export interface Announcement {
  readonly machineId: string;
  readonly name: string;
  /** Seconds. */
  readonly intervalSecs: bigint;
}

export interface PresentMachine extends Announcement {
  /** Unix seconds, on the relay's clock. */
  readonly lastSeenSecs: bigint;
}

export interface PresentMachines {
  /** Most recent first; equal times by machine id in UTF-8 order. */
  readonly machines: readonly PresentMachine[];
  /** True when more than `limit` match. */
  readonly truncated: boolean;
}

/** State, not history: one row per stream and machine, overwritten (RLY-15). */
export interface PresenceBoard {
  /** Upserts the machine's row and forgets rows of this stream alone with lastSeenSecs < forgetBeforeSecs. */
  announce(stream: string, hello: Announcement, nowSecs: bigint, forgetBeforeSecs: bigint): Promise<void>;
  /** Machines with lastSeenSecs >= seenSinceSecs. */
  machines(stream: string, seenSinceSecs: bigint, limit: number): Promise<PresentMachines>;
}
