/** What `docker compose config --format json` answers, as far as the rules look at it. */
export interface ComposeModel {
  readonly services: Readonly<Record<string, ComposeService>>;
}

export interface ComposeService {
  readonly build?: unknown;
  readonly user?: string;
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly healthcheck?: { readonly test?: readonly string[] };
  readonly ports?: readonly { readonly host_ip?: string; readonly published?: string }[];
  readonly environment?: Readonly<Record<string, string | null>>;
}

type Rule = readonly [says: string, holds: (service: ComposeService) => boolean];

const rulesOfAll: readonly Rule[] = [
  ['has no health check', (service) => (service.healthcheck?.test?.length ?? 0) > 0],
  ['may gain privileges', (service) => service.security_opt?.includes('no-new-privileges:true') === true],
  [
    'publishes a port beyond loopback',
    (service) => (service.ports ?? []).every(({ host_ip }) => host_ip === '127.0.0.1'),
  ],
];

const rulesOfApps: readonly Rule[] = [
  ['runs as root', ({ user }) => user !== undefined && !/^(root|0)(:|$)/.test(user)],
  ['may write its root file system', (service) => service.read_only === true],
  ['keeps capabilities', (service) => service.cap_drop?.includes('ALL') === true],
];

/** One line per service and rule that does not hold. What is built here is an app of ours. */
export function composeViolations({ services }: ComposeModel): string[] {
  return Object.entries(services).flatMap(([name, service]) => {
    const rules = service.build === undefined ? rulesOfAll : [...rulesOfAll, ...rulesOfApps];
    return rules.filter(([, holds]) => !holds(service)).map(([says]) => `${name} ${says}`);
  });
}
