import { type Service, type ServiceName, type Services, startServices } from './services.ts';

export type PresentService = Exclude<Service, { kind: 'absent' }>;
export type StartedService = Extract<Service, { kind: 'started' }>;

/**
 * A spec file's own server: started before its first test, stopped after its last. The result declares a test that gets
 * the server; where the server is absent (never where CI is set) each such test prints why it was skipped.
 */
export function serverTests(name: ServiceName) {
  let services: Services | undefined;
  beforeAll(async () => {
    services = await startServices({ [name]: true });
  }, 180_000);
  afterAll(() => services?.stop());

  return (title: string, run: (service: PresentService) => Promise<void>, timeoutMs = 30_000) =>
    test(
      title,
      async () => {
        const service = services?.[name];
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
