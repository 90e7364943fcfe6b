import { type Service, type ServiceName, type ServicesRequest, startPooler, startServices } from './services.ts';

export { type Certificates, makeCertificates } from './certificates.ts';
export { type Call, type Cost } from './dynamodb-call.ts';
export * from './fault-proxy.ts';
export * from './fault-rules.ts';

export type PresentService = Exclude<Service, { kind: 'absent' }>;
export type StartedService = Extract<Service, { kind: 'started' }>;

/**
 * A spec file's own server: started before its first test, stopped after its last. The result declares a test that gets
 * the server; where the server is absent (never where CI is set) each such test prints why it was skipped.
 */
export function serverTests(name: ServiceName, request: () => Promise<ServicesRequest> | ServicesRequest = () => ({})) {
  return testsOf(name, async () => {
    const services = await startServices({ ...(await request()), [name]: true });
    return { service: services[name], stop: () => services.stop() };
  });
}

/** A Postgres behind a pooler in transaction mode, as serverTests. The test gets the pooler, and the Postgres itself. */
export function pooledTests() {
  let direct = '';
  const declare = testsOf('pgbouncer', async () => {
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

interface Running {
  readonly service: Service;
  stop(): Promise<void>;
}

function testsOf(name: string, start: () => Promise<Running>) {
  let running: Running | undefined;
  beforeAll(async () => {
    running = await start();
  }, 180_000);
  afterAll(() => running?.stop());

  return (title: string, run: (service: PresentService) => Promise<void>, timeoutMs = 30_000) =>
    test(
      title,
      async () => {
        const service = running?.service;
        if (service === undefined) throw new Error(`${name} was not started`);
        if (service.kind === 'absent') return skipped(title, service.reason);
        await run(service);
      },
      timeoutMs,
    );
}

/** Only a server of our own may be crashed; with a given one the rest of the test is skipped, and says so. */
export function startedHere(title: string, service: PresentService): service is StartedService {
  if (service.kind === 'given') skipped(title, 'the server is given by the environment and may not be crashed');
  return service.kind === 'started';
}

export function skipped(title: string, reason: string): void {
  process.stderr.write(`SKIPPED ${title}: ${reason}\n`);
}
