import type { ServiceParts } from '@tidemark/libs-service-kit';
import type { SettingsReport } from './settings-directory.ts';

/** Tells operators what became of changed settings: a line for each change, and metrics to be alarmed by. */
export function reportSettings({ log, metrics }: Pick<ServiceParts, 'log' | 'metrics'>): SettingsReport {
  const loads = metrics.counter(
    'tidemark_ingest_settings_loads_total',
    'Changed settings of tenants, by what became.',
    ['result'],
  );
  const stale = metrics.gauge(
    'tidemark_ingest_settings_stale',
    '1: the newest settings of the tenant are not in force.',
    ['tenant'],
  );
  return {
    loaded(tenant, tables) {
      loads.inc({ result: 'loaded' });
      stale.set({ tenant }, 0);
      log.info({ tenant, tables }, 'tenant settings loaded');
    },
    refused(tenant, problems, served) {
      loads.inc({ result: 'refused' });
      stale.set({ tenant }, 1);
      const then = served ? 'the last good ones stay in force' : 'the tenant is not served';
      log.error({ tenant, problems: problems.slice(0, PROBLEMS_MAX) }, `tenant settings are invalid; ${then}`);
    },
    postponed(tenant, err) {
      loads.inc({ result: 'postponed' });
      stale.set({ tenant }, 1);
      log.warn({ tenant, err }, 'tenant settings are not taken over: its queue cannot be opened; tried again');
    },
    removed(tenant) {
      loads.inc({ result: 'removed' });
      stale.remove({ tenant });
      log.info({ tenant }, 'tenant removed; its queue and ids stay');
    },
    unreadable(err) {
      loads.inc({ result: 'unreadable' });
      log.error({ err }, 'the settings folder cannot be read; all tenants keep their settings');
    },
  };
}

/** All of them in one line would be too long for many a reader of logs. */
const PROBLEMS_MAX = 100;
