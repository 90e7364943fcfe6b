import type { DynamicModule } from '@nestjs/common';
import { type Clock, type Random, type Sleeper, type Tracer, asFault } from '@tidemark/libs-kernel';
import { type Answer, json } from './answer.ts';
import type { Access } from './auth/access.ts';
import { guardOf } from './auth/guard.ts';
import { authRule, openAuthenticator, openDoorRule } from './auth/settings.ts';
import { closeHttp } from './close-http.ts';
import type { CorsOrigins } from './cors.ts';
import { type HealthCheck, readyAnswer } from './health.ts';
import { type HttpOptions, createHttp } from './http.ts';
import { Lifecycle } from './lifecycle.ts';
import { type Logger, createLog } from './log.ts';
import { Metrics } from './metrics.ts';
import { listenForMetrics } from './metrics-listener.ts';
import { ProbesModule } from './probes.module.ts';
import { type Address, type Settings, SettingsProblem, type SettingsRule, type SettingsShape } from './settings.ts';
import { describeSettings, parseSettings } from './settings.ts';
import type { sharedSettings } from './shared-settings.ts';
import { systemClock, systemRandom, systemSleeper } from './system.ts';
import { Tracing, openSpanExport } from './tracing.ts';

/** What a service gets from the real world. */
export interface ServiceParts {
  readonly clock: Clock;
  readonly random: Random;
  readonly sleeper: Sleeper;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly tracer: Tracer;
  /** Aborted when shutdown begins. */
  readonly stopping: AbortSignal;
}

/** A wired service, before it listens. */
export interface OpenService {
  readonly module: DynamicModule;
  readonly checks: Readonly<Record<string, HealthCheck>>;
  /** Looks at a request before its body is read: an answer refuses it. */
  readonly admit?: HttpOptions['admit'];
  /** Origins whose pages may use the service from a browser; default: none. */
  readonly cors?: CorsOrigins | undefined;
  /** Loops beside HTTP; each ends soon after `stopping` aborts. One that ends or fails earlier ends the process. */
  readonly background?: readonly ((signal: AbortSignal) => Promise<void>)[];
  /** Closes the stores; called after HTTP and the loops have ended. */
  close(): Promise<void>;
}

export interface ServiceDefinition<S extends SettingsShape & typeof sharedSettings> {
  readonly name: string;
  /** One line for --help. */
  readonly summary: string;
  /** Variables with this prefix belong to this service alone; unknown ones are refused. */
  readonly prefix: string;
  readonly settings: S;
  /** What must hold between its settings. */
  readonly rules?: readonly SettingsRule[];
  /** The variable that holds the listen address. */
  readonly addressSetting: string & keyof S;
  readonly http: HttpOptions;
  /** What each of its routes needs. */
  readonly access: Access;
  open(settings: Settings<S>, parts: ServiceParts): Promise<OpenService>;
}

/**
 * The life of one service process: settings, stores, HTTP, ready, drain, exit. Every reason not to start is one line on standard
 * error and exit code 1.
 */
export async function runService<S extends SettingsShape & typeof sharedSettings>(
  service: ServiceDefinition<S>,
): Promise<void> {
  if (process.argv.includes('--help')) return help(service);
  try {
    await start(service);
  } catch (error) {
    for (const line of bootProblems(error)) process.stderr.write(`${service.name}: ${line}\n`);
    process.exit(1);
  }
}

async function start<S extends SettingsShape & typeof sharedSettings>(service: ServiceDefinition<S>): Promise<void> {
  const rules = [authRule, openDoorRule(service.addressSetting, METRICS_ADDRESS), ...(service.rules ?? [])];
  const settings = parseSettings(service.settings, service.prefix, process.env, rules);
  const address = settings[service.addressSetting] as Address;
  const shared = settings as Settings<typeof sharedSettings>;
  const log = createLog(service.name, shared.TIDEMARK_LOG_LEVEL);
  const drainMs = shared.TIDEMARK_DRAIN_SECS * 1000;
  const lifecycle = new Lifecycle(log, { prestopMs: shared.TIDEMARK_PRESTOP_SECS * 1000, drainMs });
  const metrics = new Metrics(service.name);
  const world = { clock: systemClock, random: systemRandom, sleeper: systemSleeper };
  const tracing = new Tracing(await openSpanExport(service.name, shared, log), log);
  const parts = { ...world, log, metrics, tracer: tracing, stopping: lifecycle.stopping };
  const authenticator = await openAuthenticator(shared, parts);
  const guard = authenticator && guardOf({ ...parts, authenticator, access: service.access });
  const apart = shared.TIDEMARK_METRICS_ADDR;
  const metricsListener =
    apart && (await listening(METRICS_ADDRESS, () => listenForMetrics(apart, () => exposition(metrics))));
  const open = await service.open(settings, parts);
  const probes = { live, ready: () => readyAnswer(open.checks, systemSleeper, lifecycle.draining, log) };
  const module = ProbesModule.around(open.module, probes, apart === undefined ? () => exposition(metrics) : null);
  const http = await createHttp(
    module,
    { ...service.http, ...(open.admit && { admit: open.admit }), bounds: boundsOf(shared) },
    { ...parts, leaving: lifecycle.leaving, gate: { guard, cors: open.cors ?? null, tracing } },
  );
  await listening(service.addressSetting, () => http.listen(address.port, address.host));
  const loops = runLoops(open, service.name, lifecycle, log);
  void authenticator?.watch(systemSleeper, lifecycle.stopping);
  lifecycle.exitOnSignal(async () => {
    await closeHttp(http, { drainMs, cut: (connections) => log.warn({ connections }, 'cut off at the deadline') });
    await loops;
    await open.close();
    await tracing.close(systemSleeper);
    await metricsListener?.close();
  });
  log.info({ address: await http.getUrl(), metrics: metricsListener?.url, pid: process.pid }, 'listening');
  process.send?.('listening');
}

function boundsOf(shared: Settings<typeof sharedSettings>): NonNullable<HttpOptions['bounds']> {
  return {
    bodiesBytesMax: shared.TIDEMARK_BODIES_BYTES,
    bodyBytesPerSecMin: shared.TIDEMARK_BODY_RATE,
    connectionsMax: shared.TIDEMARK_CONNECTIONS,
  };
}

const METRICS_ADDRESS = 'TIDEMARK_METRICS_ADDR';

/** What the operating system says against an address, in the name of its setting. */
async function listening<T>(setting: string, listen: () => Promise<T>): Promise<T> {
  try {
    return await listen();
  } catch (error) {
    const { code, address = '', port } = error as { code?: string; address?: string; port?: number };
    const where = `${setting}: ${address}:${port ?? ''}`;
    if (code === 'EADDRINUSE') throw new SettingsProblem([`${where} is taken by another process`]);
    if (code === 'EACCES') throw new SettingsProblem([`${where} may not be used by this user`]);
    if (code === 'EADDRNOTAVAIL') throw new SettingsProblem([`${where} is not an address of this machine`]);
    if (code === 'ENOTFOUND') throw new SettingsProblem([`${setting}: the host name is unknown`]);
    throw error;
  }
}

function runLoops(open: OpenService, name: string, lifecycle: Lifecycle, log: Logger): Promise<void> {
  const loops = (open.background ?? []).map(async (loop) => {
    try {
      await loop(lifecycle.stopping);
      if (lifecycle.draining) return;
      throw new Error('a background loop ended by itself');
    } catch (error) {
      if (lifecycle.draining) return;
      log.fatal({ err: error }, 'background work failed');
      process.stderr.write(`${name}: background work failed: ${asFault(error).message}\n`);
      process.exit(1);
    }
  });
  return Promise.all(loops).then(() => undefined);
}

const live = (): Answer => json('{"status":"ok"}');

async function exposition(metrics: Metrics): Promise<Answer> {
  return { status: 200, body: await metrics.registry.metrics(), contentType: metrics.registry.contentType };
}

function bootProblems(error: unknown): readonly string[] {
  if (error instanceof SettingsProblem) return error.problems;
  return [`cannot start: ${asFault(error).message.replaceAll('\n', ' ')}`];
}

function help<S extends SettingsShape & typeof sharedSettings>(service: ServiceDefinition<S>): void {
  process.stdout.write(`${service.name}: ${service.summary}\n\nSettings (environment variables) [default]:\n`);
  process.stdout.write(`${describeSettings(service.settings)}\n\nGET /livez, /readyz and /metrics tell how it is.\n`);
}
