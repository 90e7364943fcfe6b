import { z } from 'zod';
import { authSettings } from './auth/settings.ts';
import { brokerSettings } from './broker-settings.ts';
import { HTTP_BOUNDS } from './http-bounds.ts';
import { type SettingsShape, address } from './settings.ts';
import { tracingSettings } from './tracing.ts';

/** The settings that every service has. */
export const sharedSettings = {
  TIDEMARK_DATA: z.string().min(1).default('./data').describe('folder of every embedded store'),
  ...brokerSettings,
  ...authSettings,
  TIDEMARK_METRICS_ADDR: address
    .optional()
    .describe('listen address of /metrics alone; unset: it is a route of the service'),
  TIDEMARK_LOG_LEVEL: z
    .enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'])
    .default('info')
    .describe('least severe log line that is written'),
  TIDEMARK_BODIES_BYTES: z.coerce
    .number()
    .int()
    .min(16 * 1024 * 1024)
    .max(1024 ** 4)
    .default(HTTP_BOUNDS.bodiesBytesMax)
    .describe('bytes of request bodies that are held at the same time; apart from them as many of answers'),
  TIDEMARK_BODY_RATE: z.coerce
    .number()
    .int()
    .min(0)
    .max(1024 ** 3)
    .default(HTTP_BOUNDS.bodyBytesPerSecMin)
    .describe('bytes of a request body that must come in a second; 0: any pace will do'),
  TIDEMARK_CONNECTIONS: z.coerce
    .number()
    .int()
    .min(1)
    .max(1_000_000)
    .default(HTTP_BOUNDS.connectionsMax)
    .describe('connections at the same time, and requests on all of them'),
  TIDEMARK_PRESTOP_SECS: z.coerce
    .number()
    .int()
    .min(0)
    .max(600)
    .default(0)
    .describe('seconds between a signal to stop, when /readyz turns to 503, and the shutdown'),
  TIDEMARK_DRAIN_SECS: z.coerce
    .number()
    .int()
    .min(0)
    .max(3600)
    .default(20)
    .describe('seconds that open requests get at shutdown'),
  ...tracingSettings,
} satisfies SettingsShape;
