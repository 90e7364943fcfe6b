/** What a run did to the code under test. A set of runs in which one of them is 0 proves less than it seems to. */
export interface Anomalies {
  /** A page or item was read while a transaction was visible in part. */
  partialVisibility: number;
  /** A page held its items as of different moments, and one had changed between them. */
  tornPage: number;
  /** A transaction was cancelled for one in flight. */
  conflict: number;
  /** A TransactGetItems was refused for a write in flight. */
  refusedSnapshot: number;
  /** A TransactGetItems or GetItem answered what was there before a committed write. */
  staleSnapshot: number;
  /** A committed write whose answer never arrived. */
  lostAnswer: number;
  /** A write that committed after its caller had given it up. */
  lateCommit: number;
  /** A request that reached the database more than once. */
  repeatedRequest: number;
  /** A repeat that met its first one in flight. */
  inProgress: number;
  throttle: number;
  crash: number;
  clockJump: number;
}

export const noAnomalies = (): Anomalies => ({
  partialVisibility: 0,
  tornPage: 0,
  conflict: 0,
  refusedSnapshot: 0,
  staleSnapshot: 0,
  lostAnswer: 0,
  lateCommit: 0,
  repeatedRequest: 0,
  inProgress: 0,
  throttle: 0,
  crash: 0,
  clockJump: 0,
});

export function addAnomalies(to: Anomalies, from: Anomalies): void {
  for (const name of Object.keys(from) as (keyof Anomalies)[]) to[name] += from[name];
}
