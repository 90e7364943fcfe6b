import { ServiceProcess } from './service-process.ts';

/** A relay on a free port, without intake, that is known by its URL. */
export class RelayProcess {
  readonly url: string;
  readonly #service: ServiceProcess;

  private constructor(service: ServiceProcess, url: string) {
    this.#service = service;
    this.url = url;
  }

  /** Resolves when it listens; rejects with what it wrote when it ends before. */
  static async start(env: NodeJS.ProcessEnv): Promise<RelayProcess> {
    const service = new ServiceProcess('relay', { RELAY_ADDR: '127.0.0.1:0', RELAY_INTAKE: 'off', ...env });
    const { url } = await service.listening();
    return new RelayProcess(service, url);
  }

  get exited(): Promise<unknown> {
    return this.#service.exited;
  }

  kill(signal: NodeJS.Signals): void {
    this.#service.kill(signal);
  }

  /** Ends it hard. */
  stop(): Promise<void> {
    return this.#service.destroy();
  }
}
