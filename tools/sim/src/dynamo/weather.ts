type Bounds = readonly [number, number];

/**
 * What TransactGetItems and GetItem may answer while writes are under way, from strong to weak:
 *
 * | strength | TransactGetItems                                                        | overlapping transactions      | GetItem              |
 * | -------- | ----------------------------------------------------------------------- | ----------------------------- | -------------------- |
 * | impl     | refused when one of its items is committed and not visible; else current | cancelled                     | what is visible      |
 * | brief    | refused while a touching write has an item that is not visible; else any snapshot | cancelled            | old or new           |
 * | weak     | refused, or any snapshot that holds all acknowledged writes             | cancelled                     | old or new           |
 * | nolock   | as weak                                                                 | may commit one upon the other | old or new           |
 */
export type Strength = 'impl' | 'brief' | 'weak' | 'nolock';
export const strengths: readonly Strength[] = ['impl', 'brief', 'weak', 'nolock'];

/** What the network and the database do to calls: how long things take, and how likely each misfortune is. */
export interface Weather {
  readonly strength: Strength;
  readonly requestMs: Bounds;
  readonly answerMs: Bounds;
  /** From the commit of a transaction to the visibility of each of its items, and from the last one to its answer. */
  readonly showMs: Bounds;
  readonly acknowledgeMs: Bounds;
  /** A page is taken over this time, each item at its own moment; 0 to 0: in one instant. */
  readonly pageMs: Bounds;
  readonly lostRequest: number;
  readonly lateRequest: number;
  readonly lateMs: Bounds;
  readonly twiceDelivered: number;
  readonly lostAnswer: number;
  /** A transaction is cancelled for a conflict with one that was never committed. */
  readonly spuriousConflict: number;
  /** A TransactGetItems is refused where it need not be. */
  readonly spuriousRefusal: number;
  readonly throttle: number;
  /** InternalServerError, before or after the work was done. */
  readonly serverError: number;
  /** Of several failed conditions only some are told. */
  readonly partialReasons: number;
  /** Whether the rules of ClientRequestToken hold, or it is as if none were sent. */
  readonly tokens: 'honoured' | 'ignored';
  /** Write units that one partition key takes in a second. */
  readonly partitionUnits: number;
}

export const calm: Weather = {
  strength: 'impl',
  requestMs: [1, 3],
  answerMs: [1, 3],
  showMs: [0, 0],
  acknowledgeMs: [0, 0],
  pageMs: [0, 0],
  lostRequest: 0,
  lateRequest: 0,
  lateMs: [5000, 20_000],
  twiceDelivered: 0,
  lostAnswer: 0,
  spuriousConflict: 0,
  spuriousRefusal: 0,
  throttle: 0,
  serverError: 0,
  partialReasons: 0,
  tokens: 'honoured',
  partitionUnits: Infinity,
};

export const stormy: Weather = {
  ...calm,
  strength: 'weak',
  requestMs: [1, 30],
  answerMs: [1, 30],
  showMs: [0, 40],
  acknowledgeMs: [0, 20],
  pageMs: [0, 20],
  lostRequest: 0.01,
  lateRequest: 0.02,
  twiceDelivered: 0.05,
  lostAnswer: 0.04,
  spuriousConflict: 0.03,
  spuriousRefusal: 0.05,
  throttle: 0.02,
  serverError: 0.01,
  partialReasons: 0.2,
  partitionUnits: 1000,
};
