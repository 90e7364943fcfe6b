import type { Sleeper } from '@tidemark/libs-kernel';

/** Resolves when the backend answers; rejects with the reason when it does not. */
export type HealthCheck = () => Promise<void>;

export interface Readiness {
  readonly ready: boolean;
  /** Per check: `ok`, or why not. */
  readonly checks: Readonly<Record<string, string>>;
}

const CHECK_MS_MAX = 2000;

/** Runs every check beside the others, each with a bound, so that a hanging backend cannot hang the probe (OPS-1). */
export async function readiness(
  checks: Readonly<Record<string, HealthCheck>>,
  sleeper: Sleeper,
  boundMs = CHECK_MS_MAX,
): Promise<Readiness> {
  const results = await Promise.all(
    Object.entries(checks).map(async ([name, check]) => [name, await outcome(check, sleeper, boundMs)] as const),
  );
  return { ready: results.every(([, result]) => result === 'ok'), checks: Object.fromEntries(results) };
}

async function outcome(check: HealthCheck, sleeper: Sleeper, boundMs: number): Promise<string> {
  const bound = new AbortController();
  const late = sleeper.sleep(boundMs, bound.signal).then(() => `no answer within ${boundMs} ms`);
  const answered = check().then(
    () => 'ok',
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
  const result = await Promise.race([answered, late]);
  bound.abort();
  return result;
}
