import type { Broker } from '@tidemark/libs-broker-contract';
import { type Tables, defaultTables, loadSchemaCompiler } from '@tidemark/libs-ingest';
import { Fault } from '@tidemark/libs-kernel';
import { type OpenService, type ServiceParts, SettingsProblem } from '@tidemark/libs-service-kit';
import { type IngestSettings, queueBytes } from '../config.ts';
import { SettingsDirectory } from './settings-directory.ts';
import { settingsFolder } from './settings-folder.ts';
import { reportSettings } from './settings-report.ts';
import { parseTenant } from './tenant-settings.ts';

export interface OpenTables {
  readonly tables: Tables;
  /** What keeps them up to date. */
  readonly background: NonNullable<OpenService['background']>;
}

/** The tables that the settings ask for, with the queues of their tenants open. */
export async function openTables(
  settings: IngestSettings,
  broker: Pick<Broker, 'openQueue' | 'duplicateWindowMs'>,
  parts: ServiceParts,
): Promise<OpenTables> {
  const { INGEST_SETTINGS_DIR } = settings;
  const openQueue = (tenant: string, budget: bigint | null) => broker.openQueue(tenant, budget ?? queueBytes(settings));
  if (INGEST_SETTINGS_DIR !== undefined) {
    const directory = await openDirectory(INGEST_SETTINGS_DIR, broker.duplicateWindowMs, openQueue, parts);
    if (directory.tenants().length === 0)
      parts.log.warn({ folder: INGEST_SETTINGS_DIR }, 'the settings folder has no tenant yet: nobody is served');
    return { tables: directory, background: [(signal) => directory.watch(parts.sleeper, signal)] };
  }
  for (const tenant of defaultTables.tenants()) await openQueue(tenant, null);
  return { tables: defaultTables, background: [] };
}

async function openDirectory(
  folder: string,
  retentionMsMin: number,
  openQueue: (tenant: string, budget: bigint | null) => Promise<void>,
  parts: ServiceParts,
): Promise<SettingsDirectory> {
  const rules = { retentionMsMin, compileSchema: await loadSchemaCompiler() };
  try {
    return await SettingsDirectory.open({
      folder: settingsFolder(folder),
      parse: (tenant, files) => parseTenant(tenant, files, rules),
      openQueue,
      report: reportSettings(parts),
    });
  } catch (thrown) {
    const { code } = thrown as { code?: string };
    if (thrown instanceof Fault || code === undefined) throw thrown;
    throw new SettingsProblem([`INGEST_SETTINGS_DIR: cannot read ${folder} (${code})`]);
  }
}
