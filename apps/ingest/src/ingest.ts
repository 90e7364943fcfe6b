import { INGEST_BODY_BYTES_MAX } from '@tidemark/libs-kernel';
import { type ServiceDefinition, brokerRule, faultAnswer, regionRule } from '@tidemark/libs-service-kit';
import { ingestAccess } from './access.ts';
import { ingestSettings } from './config.ts';
import { openIngest } from './wiring.ts';

export const ingest: ServiceDefinition<typeof ingestSettings> = {
  name: 'ingest',
  summary: 'events over HTTP, deduplicated by id and queued once',
  prefix: 'INGEST_',
  settings: ingestSettings,
  rules: [brokerRule, regionRule('INGEST_DEDUPE')],
  addressSetting: 'INGEST_ADDR',
  http: {
    bodyBytesMax: INGEST_BODY_BYTES_MAX,
    compressedBodies: true,
    // Caches must not give one tenant's answer to another.
    headers: { vary: 'X-Tenant-ID' },
    faultAnswer,
  },
  access: ingestAccess,
  open: openIngest,
};
