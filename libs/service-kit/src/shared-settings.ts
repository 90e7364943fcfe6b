import { z } from 'zod';
import { authSettings } from './auth/settings.ts';
import { type SettingsShape, address } from './settings.ts';

/** The settings that every service has. */
export const sharedSettings = {
  TIDEMARK_DATA: z.string().min(1).default('./data').describe('folder of every embedded store'),
  TIDEMARK_BROKER: z.enum(['embedded']).default('embedded').describe('the broker: embedded'),
  ...authSettings,
  TIDEMARK_METRICS_ADDR: address
    .optional()
    .describe('listen address of /metrics alone; unset: it is a route of the service'),
  TIDEMARK_LOG_LEVEL: z
    .enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'])
    .default('info')
    .describe('least severe log line that is written'),
  TIDEMARK_DRAIN_SECS: z.coerce
    .number()
    .int()
    .min(0)
    .max(3600)
    .default(20)
    .describe('seconds that open requests get at shutdown'),
} satisfies SettingsShape;
