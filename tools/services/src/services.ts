import { tmpdir } from 'node:os';
import { ServerAbsent } from './absent.ts';
import { dynamodbFolder, startDynamodb } from './dynamodb.ts';
import { NatsCluster } from './nats-cluster.ts';
import { startNats } from './nats.ts';
import { startPgbouncer } from './pgbouncer.ts';
import { type ServerCertificate, startPostgres } from './postgres.ts';
import type { Server } from './server.ts';

export const serviceNames = ['dynamodb', 'nats', 'postgres'] as const;
export type ServiceName = (typeof serviceNames)[number];

/** The variable that names a server's endpoint, here and in every app. */
export const endpointVariables: Record<ServiceName, string> = {
  dynamodb: 'DYNAMODB_ENDPOINT',
  nats: 'NATS_URL',
  postgres: 'DATABASE_URL',
};

export type Service =
  /** Started here: may be crashed, restarted and is stopped with the others. */
  | { readonly kind: 'started'; readonly endpoint: string; readonly server: Server }
  /** Named by the environment: somebody else's, never stopped. */
  | { readonly kind: 'given'; readonly endpoint: string }
  /** Not asked for, or cannot be had on this machine. Never returned for an asked server where CI is set. */
  | Absent;

export interface Absent {
  readonly kind: 'absent';
  readonly reason: string;
}

export type Services = Readonly<Record<ServiceName, Service>> & {
  /** Stops what was started and removes its files. */
  stop(): Promise<void>;
};

export interface ServicesRequest extends Partial<Record<ServiceName, boolean>> {
  /** For the started Postgres: it offers TLS then. */
  readonly certificate?: ServerCertificate;
  /** Lines for the configuration of the started NATS: who may connect, and how. */
  readonly natsConfiguration?: string;
  /** Where data folders are made; the default is the system's temporary folder (DynamoDB: memory, when there is some). */
  readonly folder?: string;
  readonly env?: NodeJS.ProcessEnv;
}

/**
 * Starts the asked servers side by side on free loopback ports and answers when each speaks its protocol. A server that
 * is found but does not start is an error everywhere; one that cannot be had is an error where CI is set, else `absent`.
 * Nothing outlives this process, not even when it is killed.
 */
export async function startServices(request: ServicesRequest): Promise<Services> {
  const settled = await Promise.allSettled(serviceNames.map((name) => startService(name, request)));
  const services = settled.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  const stop = async () => {
    await Promise.all(services.map((service) => (service.kind === 'started' ? service.server.stop() : undefined)));
  };
  const failure = settled.find((result) => result.status === 'rejected');
  if (failure) {
    await stop();
    throw failure.reason;
  }
  const [dynamodb, nats, postgres] = services as [Service, Service, Service];
  return { dynamodb, nats, postgres, stop };
}

async function startService(name: ServiceName, request: ServicesRequest): Promise<Service> {
  const env = request.env ?? process.env;
  if (!request[name]) return { kind: 'absent', reason: 'not asked for' };
  const endpoint = env[endpointVariables[name]];
  if (endpoint && !isSpecial(name, request)) return { kind: 'given', endpoint };
  return orAbsent(env, () => starters[name](request, env));
}

/** What no server of the environment can be expected to be. */
function isSpecial(name: ServiceName, { certificate, natsConfiguration }: ServicesRequest): boolean {
  if (name === 'postgres') return certificate !== undefined;
  return name === 'nats' && natsConfiguration !== undefined;
}

/** A pooler in transaction mode before the given Postgres. */
export async function startPooler(postgres: string, env: NodeJS.ProcessEnv = process.env): Promise<Service> {
  return orAbsent(env, () => startPgbouncer(tmpdir(), env, postgres));
}

/** Three NATS servers of our own; never those that the environment names, which may not be crashed. */
export async function startCluster(env: NodeJS.ProcessEnv = process.env): Promise<NatsCluster | Absent> {
  return unlessAbsent(env, () => NatsCluster.start(tmpdir(), env));
}

async function orAbsent(env: NodeJS.ProcessEnv, start: () => Promise<Server>): Promise<Service> {
  const server = await unlessAbsent(env, start);
  return 'kind' in server ? server : { kind: 'started', endpoint: server.endpoint, server };
}

async function unlessAbsent<T>(env: NodeJS.ProcessEnv, start: () => Promise<T>): Promise<T | Absent> {
  try {
    return await start();
  } catch (error) {
    if (!(error instanceof ServerAbsent) || env['CI']) throw error;
    return { kind: 'absent', reason: error.message };
  }
}

const starters: Record<ServiceName, (request: ServicesRequest, env: NodeJS.ProcessEnv) => Promise<Server>> = {
  dynamodb: async ({ folder }) => startDynamodb(folder ?? (await dynamodbFolder())),
  nats: ({ folder = tmpdir(), natsConfiguration }, env) => startNats(folder, env, natsConfiguration),
  postgres: ({ folder = tmpdir(), certificate }, env) => startPostgres(folder, env, certificate),
};
