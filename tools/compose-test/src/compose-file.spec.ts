import { readFileSync } from 'node:fs';
import path from 'node:path';
import { type ComposeModel, ServerAbsent, composeCommand, composeViolations, run } from '@tidemark/tools-services';
import { apps, imageOf, root } from './images.ts';
import { composeFiles } from './system.ts';

interface Composed extends ComposeModel {
  readonly services: Readonly<Record<string, ComposedService>>;
}

type ComposedService = ComposeModel['services'][string] & {
  readonly image?: string;
  readonly restart?: string;
  readonly deploy?: { readonly replicas?: number };
  readonly volumes?: readonly { readonly target: string; readonly read_only?: boolean }[];
};

/** null: Compose cannot be had here, and CI is not set. */
async function composed(): Promise<Composed | null> {
  try {
    const [program, ...words] = await composeCommand();
    return JSON.parse(await run(program, [...words, ...composeFiles, 'config', '--format', 'json'])) as Composed;
  } catch (error) {
    if (!(error instanceof ServerAbsent) || process.env['CI']) throw error;
    process.stderr.write(`SKIPPED the compose file of the test: ${error.message}\n`);
    return null;
  }
}

let model: Composed | null;

beforeAll(async () => {
  model = await composed();
}, 180_000);

test('SEC-3: the tested containers are as confined as those of the compose file', () => {
  if (model !== null) expect(composeViolations(model)).toEqual([]);
});

test('each app has two replicas of its own image on free ports, which share no file that they write and stay away once killed', () => {
  const services = model?.services;
  if (services === undefined) return;
  for (const app of apps) {
    const { image, restart, deploy, volumes = [], ports = [] } = services[app] ?? {};
    expect({
      app,
      image,
      restart,
      replicas: deploy?.replicas,
      written: volumes.filter(({ read_only }) => read_only !== true),
      ports: ports.map(({ published }) => published),
    }).toEqual({
      app,
      image: imageOf(app),
      restart: 'no',
      replicas: 2,
      written: [],
      ports: [undefined],
    });
  }
});

test('OPS-2: every setting that an app is given is one that it declares', () => {
  for (const app of apps) {
    const declared = [
      'libs/service-kit/src/shared-settings.ts',
      'libs/service-kit/src/auth/settings.ts',
      'libs/service-kit/src/broker-settings.ts',
      'libs/service-kit/src/dynamodb-settings.ts',
      `apps/${app}/src/config.ts`,
    ].map((file) => readFileSync(path.join(root, file), 'utf8'));
    const given = Object.keys(model?.services[app]?.environment ?? {});
    const unknown = given.filter(
      (name) => /^(TIDEMARK|RELAY|INGEST|FOLD)_/.test(name) && !declared.join().includes(`${name}:`),
    );
    expect({ app, unknown }).toEqual({ app, unknown: [] });
  }
});
