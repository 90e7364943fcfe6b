import { type Weather, calm, stormy } from '../dynamo/weather.ts';
import { type StreamsWeather, calmStreams, stormyStreams } from './streams/streams-weather.ts';

/** What goes wrong between a worker and views that are no DynamoDB table. Shares of calls; times in milliseconds. */
export interface ViewsWeather {
  readonly callMs: readonly [number, number];
  /** A call is refused before anything of it is done, or after all of it. */
  readonly refused: number;
  readonly lostAnswer: number;
  /** An apply does a part of its work, and fails. */
  readonly partial: number;
}

export const calmViews: ViewsWeather = { callMs: [1, 3], refused: 0, lostAnswer: 0, partial: 0 };
export const stormyViews: ViewsWeather = { callMs: [1, 60], refused: 0.03, lostAnswer: 0.03, partial: 0.05 };

/** Of the whole world. */
export interface FoldWeather {
  readonly dynamo: Weather;
  readonly streams: StreamsWeather;
  readonly views: ViewsWeather;
}

export const CALM: FoldWeather = { dynamo: calm, streams: calmStreams, views: calmViews };
export const STORM: FoldWeather = { dynamo: stormy, streams: stormyStreams, views: stormyViews };

/** Beside what the stream and the database did: to the workers. */
export interface WorkerAnomalies {
  crash: number;
  /** A worker stood still for longer than its leases last. */
  pause: number;
  /** A worker was stopped in order, and its successor started. */
  restart: number;
  /** All workers were gone for longer than records are kept. */
  outage: number;
  upgrade: number;
  rebuild: number;
  /** A writer of the ADD era stored an op below a mark, after its grace. */
  late: number;
  /** A seq was taken and never used. */
  burned: number;
  /** An op that no views take. */
  poison: number;
}

export const noWorkerAnomalies = (): WorkerAnomalies => ({
  crash: 0,
  pause: 0,
  restart: 0,
  outage: 0,
  upgrade: 0,
  rebuild: 0,
  late: 0,
  burned: 0,
  poison: 0,
});
