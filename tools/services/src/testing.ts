import type { NatsCluster } from './nats-cluster.ts';
import {
  type Absent,
  type Service,
  type ServiceName,
  type ServicesRequest,
  startCluster,
  startPooler,
  startServices,
} from './services.ts';

export { type Certificates, makeCertificates } from './certificates.ts';
export { type Call, type Cost } from './dynamodb-call.ts';
export * from './fault-proxy.ts';
export * from './fault-rules.ts';
export { type NatsCluster, type NatsMember } from './nats-cluster.ts';

export type PresentService = Exclude<Service, { kind: 'absent' }>;
export type StartedService = Extract<Service, { kind: 'started' }>;

/**
 * A spec file's own server: started before its first test, stopped after its last. The result declares a test that gets
 * the server; where the server is absent (never where CI is set) each such test prints why it was skipped.
 */
export function serverTests(name: ServiceName, request: () => Promise<ServicesRequest> | ServicesRequest = () => ({})) {
  return testsOf<PresentService>(name, async () => {
    const services = await startServices({ ...(await request()), [name]: true });
    return { service: services[name], stop: () => services.stop() };
  });
}

/** A Postgres behind a pooler in transaction mode, as serverTests. The test gets the pooler, and the Postgres itself. */
export function pooledTests() {
  let direct = '';
  const declare = testsOf<PresentService>('pgbouncer', async () => {
    const services = await startServices({ postgres: true });
    const { postgres } = services;
    if (postgres.kind === 'absent') return { service: postgres, stop: () => services.stop() };
    direct = postgres.endpoint;
    const pooler = await startPooler(direct).catch(async (error: unknown) => {
      await services.stop();
      throw error;
    });
    const stop = async (): Promise<void> => {
      if (pooler.kind === 'started') await pooler.server.stop();
      await services.stop();
    };
    return { service: pooler, stop };
  });
  return (title: string, run: (pooler: string, postgres: string) => Promise<void>, timeoutMs?: number) =>
    declare(title, ({ endpoint }) => run(endpoint, direct), timeoutMs);
}

/** A spec file's own cluster of three NATS servers, as serverTests. A test leaves all of them running. */
export function clusterTests() {
  return testsOf<NatsCluster>('the NATS cluster', async () => {
    const service = await startCluster();
    return { service, stop: async () => void ('kind' in service || (await service.stop())) };
  });
}

interface Running<T> {
  readonly service: T | Absent;
  stop(): Promise<void>;
}

function testsOf<T extends PresentService | NatsCluster>(name: string, start: () => Promise<Running<T>>) {
  let running: Running<T> | undefined;
  beforeAll(async () => {
    running = await start();
  }, 180_000);
  afterAll(() => running?.stop());

  return (title: string, run: (service: T) => Promise<void>, timeoutMs = 30_000) =>
    test(
      title,
      async () => {
        const service = running?.service;
        if (service === undefined) throw new Error(`${name} was not started`);
        if (isAbsent(service)) return skipped(title, service.reason);
        await run(service);
      },
      timeoutMs,
    );
}

function isAbsent(service: PresentService | NatsCluster | Absent): service is Absent {
  return 'kind' in service && service.kind === 'absent';
}

/** Only a server of our own may be crashed; with a given one the rest of the test is skipped, and says so. */
export function startedHere(title: string, service: PresentService): service is StartedService {
  if (service.kind === 'given') skipped(title, 'the server is given by the environment and may not be crashed');
  return service.kind === 'started';
}

export function skipped(title: string, reason: string): void {
  process.stderr.write(`SKIPPED ${title}: ${reason}\n`);
}
