import { type Sleeper, asFault } from '@tidemark/libs-kernel';
import { type Answer, toldText } from './answer.ts';

/** Resolves when the backend answers; rejects with the reason when it does not. */
export type HealthCheck = () => Promise<void>;

export interface Readiness {
  readonly ready: boolean;
  /** Per check: `ok`, or why not, in words for anybody. */
  readonly checks: Readonly<Record<string, string>>;
}

const CHECK_MS_MAX = 2000;

/** Hears the whole reason why a check failed: who asks for readiness need not be known. */
export interface HealthLog {
  warn(fields: object, message: string): void;
}

/** What `/readyz` answers; while the service drains no backend is asked. */
export async function readyAnswer(
  checks: Readonly<Record<string, HealthCheck>>,
  sleeper: Sleeper,
  draining: boolean,
  log: HealthLog,
): Promise<Answer> {
  if (draining) return { ...NOT_READY, body: '{"status":"draining"}' };
  const { ready, checks: results } = await readiness(checks, sleeper, log);
  const body = JSON.stringify({ status: ready ? 'ok' : 'not ready', checks: results });
  return ready ? { status: 200, body } : { ...NOT_READY, body };
}

/** Whatever it is, a probe has done nothing. */
const NOT_READY = { status: 503, headers: { 'tidemark-outcome': 'not-done' } };

/** Runs every check beside the others, each with a bound, so that a hanging backend cannot hang the probe (OPS-1). */
export async function readiness(
  checks: Readonly<Record<string, HealthCheck>>,
  sleeper: Sleeper,
  log: HealthLog,
  boundMs = CHECK_MS_MAX,
): Promise<Readiness> {
  const results = await Promise.all(
    Object.entries(checks).map(async ([name, check]) => {
      const told = (thrown: unknown): string => {
        const fault = asFault(thrown);
        log.warn({ check: name, reason: fault.message }, 'not ready');
        return toldText(fault);
      };
      return [name, await outcome(check, told, sleeper, boundMs)] as const;
    }),
  );
  return { ready: results.every(([, result]) => result === 'ok'), checks: Object.fromEntries(results) };
}

async function outcome(
  check: HealthCheck,
  told: (thrown: unknown) => string,
  sleeper: Sleeper,
  boundMs: number,
): Promise<string> {
  const bound = new AbortController();
  const late = sleeper.sleep(boundMs, bound.signal).then(() => `no answer within ${boundMs} ms`);
  const answered = check().then(() => 'ok', told);
  const result = await Promise.race([answered, late]);
  bound.abort();
  return result;
}
