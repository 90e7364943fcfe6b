/** What goes wrong between a gateway and what it stands on. Shares of calls; times in milliseconds. */
export interface IngestWeather {
  /** A call never arrives: its caller hears nothing until its timeout. */
  readonly lostCall: number;
  /** A call is done, and its answer never arrives. */
  readonly lostAnswer: number;
  /** A publish that nobody answers is stored all the same, so long afterwards. */
  readonly late: number;
  readonly lateMs: readonly [number, number];
  /** A Reserve is refused by a store that throttles. */
  readonly throttled: number;
  /** A gateway dies: share of the requests that it takes. */
  readonly crash: number;
  /** A gateway stands still, as a stopped process does. */
  readonly pause: number;
  readonly pauseMs: readonly [number, number];
}

export const CALM: IngestWeather = {
  lostCall: 0,
  lostAnswer: 0,
  late: 0,
  lateMs: [0, 0],
  throttled: 0,
  crash: 0,
  pause: 0,
  pauseMs: [0, 0],
};

/** One call in ten is lost in some way, one request in five meets a crash or a pause. */
export const STORM: IngestWeather = {
  lostCall: 0.03,
  lostAnswer: 0.04,
  late: 0.03,
  lateMs: [100, 60_000],
  throttled: 0.05,
  crash: 0.1,
  pause: 0.1,
  pauseMs: [1000, 45_000],
};

/**
 * Publishes that hang in the network for longer than the broker remembers a key. The claim that is left to lapse keeps everybody from storing
 * another copy for a lease, so that the late one still finds it remembered: it may hang for almost a lease and a window.
 */
export const LATE: IngestWeather = {
  ...CALM,
  lostAnswer: 0.02,
  late: 0.1,
  lateMs: [60_000, 140_000],
};

/** How often each of them happened in a run, or in many. */
export interface IngestAnomalies {
  lostCall: number;
  lostAnswer: number;
  late: number;
  throttled: number;
  crash: number;
  pause: number;
  /** A claim was taken over from a holder that let it lapse. */
  lapse: number;
  /** A request was told that another one holds its id. */
  inFlight: number;
  /** The broker dropped a repeat. */
  repeat: number;
}

export const noAnomalies = (): IngestAnomalies => ({
  lostCall: 0,
  lostAnswer: 0,
  late: 0,
  throttled: 0,
  crash: 0,
  pause: 0,
  lapse: 0,
  inFlight: 0,
  repeat: 0,
});
