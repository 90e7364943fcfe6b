import { type ServiceDefinition, brokerRule, faultAnswer, regionRule } from '@tidemark/libs-service-kit';
import { foldAccess } from './access.ts';
import { databaseRule, feedRule, foldSettings } from './config.ts';
import { openFoldWorker } from './wiring.ts';

export const foldWorker: ServiceDefinition<typeof foldSettings> = {
  name: 'fold-worker',
  summary: 'folds op logs into documents and keeps a mark that never lies',
  prefix: 'FOLD_',
  settings: foldSettings,
  rules: [databaseRule, feedRule, regionRule('FOLD_OP_STORE'), regionRule('FOLD_VIEWS'), brokerRule],
  addressSetting: 'FOLD_ADDR',
  http: { bodyBytesMax: 64 * 1024, faultAnswer },
  access: foldAccess,
  open: openFoldWorker,
};
