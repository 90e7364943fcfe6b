import { type IngestAnswer, type IngestParts, IngestService, defaultTables } from '@tidemark/libs-ingest';
import type { Scheduler } from '../scheduler/scheduler.ts';
import { SimProcess } from '../scheduler/sim-process.ts';
import type { SimBackends } from './sim-backends.ts';
import { CALM, type IngestWeather } from './weather.ts';

/** What a mutant puts in place of a sound part. */
export type Meddle = (parts: IngestParts) => IngestParts;

/** Until a client finds out that its connection is gone. */
const RESET_MS: readonly [number, number] = [0, 50];

/** An ingest process: the production flow over simulated stores. A crash ends it, and another one with empty memory takes its place. */
export class Gateway {
  process: SimProcess;
  weather: IngestWeather = CALM;
  readonly #scheduler: Scheduler;
  readonly #backends: SimBackends;
  readonly #parts: { readonly leaseMs: number; readonly meddle: Meddle };
  readonly #name: string;
  #service: IngestService;
  #starts = 0;
  #pausedUntilMs = 0;
  #onCrash = new Set<() => void>();

  constructor(
    name: string,
    scheduler: Scheduler,
    backends: SimBackends,
    parts: { readonly leaseMs: number; readonly meddle: Meddle },
  ) {
    this.#name = name;
    this.#scheduler = scheduler;
    this.#backends = backends;
    this.#parts = parts;
    this.process = this.#newProcess();
    this.#service = this.#newService();
  }

  /** As a client meets it: the answer, or null when the connection breaks. `clear`: nothing goes wrong with this request. */
  post(body: Uint8Array, weather: IngestWeather): Promise<IngestAnswer | null> {
    this.weather = weather;
    this.#perhapsPause(weather);
    return new Promise((resolve) => {
      const broken = () => {
        this.#onCrash.delete(broken);
        this.#scheduler.wake(this.#scheduler.between(RESET_MS), 'a client meets a reset', () => resolve(null));
      };
      this.#onCrash.add(broken);
      this.#perhapsCrash(weather);
      const request = { tenant: undefined, table: 'events', contentType: 'application/x-ndjson' };
      void this.#service.ingest({ ...request, body, receivedMs: this.process.now() }).then((answer) => {
        if (this.#onCrash.delete(broken)) resolve(answer);
      });
    });
  }

  /** Lets the process hear something, unless it is dead by then; while it stands still it hears it later. */
  wake(afterMs: number, label: string, run: () => void): void {
    const { process } = this;
    const hear = () => {
      const leftMs = this.#pausedUntilMs - this.#scheduler.nowMs;
      if (leftMs > 0 && process === this.process) this.#scheduler.wake(leftMs, label, hear);
      else if (process.alive) run();
    };
    this.#scheduler.wake(afterMs, label, hear);
  }

  #perhapsPause({ pause, pauseMs }: IngestWeather): void {
    if (!this.#scheduler.chance(pause)) return;
    this.#backends.anomalies.pause++;
    const beginsMs = this.#scheduler.between([0, 200]);
    this.#scheduler.wake(beginsMs, `${this.#name} stands still`, () => {
      this.#pausedUntilMs = this.#scheduler.nowMs + this.#scheduler.between(pauseMs);
    });
  }

  #perhapsCrash({ crash }: IngestWeather): void {
    if (!this.#scheduler.chance(crash)) return;
    const { process } = this;
    this.#scheduler.wake(this.#scheduler.between([0, 400]), `${this.#name} crashes`, () => {
      if (process !== this.process) return;
      this.#backends.anomalies.crash++;
      process.crash();
      this.#pausedUntilMs = 0;
      this.process = this.#newProcess();
      this.#service = this.#newService();
      for (const broken of [...this.#onCrash]) broken();
    });
  }

  #newProcess(): SimProcess {
    return new SimProcess(`${this.#name}.${++this.#starts}`, this.#scheduler, this.#starts);
  }

  #newService(): IngestService {
    const { leaseMs, meddle } = this.#parts;
    return new IngestService(
      meddle({
        deduplicator: this.#backends.dedupeOf(this),
        broker: this.#backends.brokerOf(this),
        tables: defaultTables,
        clock: this.process,
        leaseMs,
        windowRecordsMax: 3,
      }),
    );
  }
}
