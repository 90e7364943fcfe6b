import { SettingsProblem } from '@tidemark/libs-service-kit';
import type { IngestSettings } from './config.ts';

/** By so much the clocks of services may differ that share a table of ids (DDP-7). */
const SKEW_MS = 5000;

/**
 * An obedient client may publish again up to two leases after the first reserve, and a second later where ends are whole seconds; the broker
 * must still remember the first copy then (ING-6).
 */
export function refuseLongLease(
  leaseMs: number,
  duplicateWindowMs: number,
  dedupe: IngestSettings['INGEST_DEDUPE'],
): void {
  const skewMs = dedupe === 'dynamodb' ? SKEW_MS : 0;
  const latestRetryMs = leaseMs + Math.ceil(leaseMs / 1000) * 1000 + 1000 + skewMs;
  if (latestRetryMs <= duplicateWindowMs) return;
  const secondsMax = Math.floor((duplicateWindowMs - 1000 - skewMs) / 2000);
  throw new SettingsProblem([
    `INGEST_DEDUPE_LEASE_SECS: must be at most ${secondsMax}: a retry may come ${latestRetryMs / 1000} s after the first try, ` +
      `and the broker drops repeats for ${duplicateWindowMs / 1000} s`,
  ]);
}
