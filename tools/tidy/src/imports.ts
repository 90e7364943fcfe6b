import { isCode, importsOf, packageOf, productionPaths } from './code.ts';
import { type SourceFile, type Violation, at } from './tree.ts';

/** Where a package of the registry may be imported by what runs in production. */
const PLACES: readonly { readonly what: RegExp; readonly where: RegExp }[] = [
  { what: /^@nestjs\/|^fastify$|^reflect-metadata$|^rxjs/, where: /^(apps\/|libs\/service-kit$)/ },
  { what: /^@aws-sdk\/|^@smithy\//, where: /^(libs\/[^/]+\/dynamodb|tools\/)/ },
  { what: /^nats$|^@nats-io\//, where: /^(libs\/broker\/jetstream$|tools\/)/ },
  { what: /^typeorm/, where: /^libs\/([^/]+\/sql|driver\/postgres)$/ },
  { what: /^pg$/, where: /^(libs\/([^/]+\/sql|driver\/postgres)$|tools\/)/ },
  { what: /^better-sqlite3$/, where: /^(libs\/[^/]+\/(sql|embedded)$|tools\/)/ },
  { what: /^classic-level$|^lmdb$/, where: /^(libs\/dedupe\/embedded$|tools\/)/ },
  { what: /^(pino|prom-client|jose|@opentelemetry\/)/, where: /^libs\/service-kit$/ },
  { what: /^zod$/, where: /^(apps\/|libs\/service-kit$)/ },
  { what: /^ajv/, where: /^libs\/ingest$/ },
  { what: /./, where: /^tools\// },
];

const ADAPTER = /^@tidemark\/libs-(op-store|dedupe|broker|feed|views)-(?!contract)/;

/** Parts of Node, and packages and files of ours. */
const OWN = /^(node:|@tidemark\/|\.)/;

/**
 * SDKs stay inside their adapters, kernel imports nothing, adapters are loaded lazily by wiring.ts alone, and nothing that runs in
 * production imports what is there for tests.
 */
export function importRules(files: readonly SourceFile[]): Violation[] {
  const production = productionPaths(files);
  return files
    .filter((file) => isCode(file) && production.has(file.path))
    .flatMap((file) =>
      importsOf(file).flatMap((one) => {
        const owner = packageOf(file) ?? '';
        const place = OWN.test(one.from) ? undefined : PLACES.find(({ what }) => what.test(one.from));
        const found: Violation[] = [];
        if (place !== undefined && !place.where.test(owner))
          found.push(at(file, one.position, `${one.from} may not be imported in ${owner}`));
        if (/(^@tidemark\/.*|^\..*)\/testing(\.ts|\/|$)/.test(one.from) && !owner.startsWith('tools/'))
          found.push(at(file, one.position, `${one.from} is for tests`));
        if (one.from.startsWith('@tidemark/tools-') && !owner.startsWith('tools/'))
          found.push(at(file, one.position, `${one.from} is for tests`));
        if (owner === 'libs/kernel' && !one.from.startsWith('.'))
          found.push(at(file, one.position, 'kernel imports nothing'));
        if (
          ADAPTER.test(one.from) &&
          owner.startsWith('apps/') &&
          !(file.path.endsWith('/wiring.ts') && (one.lazy || one.typeOnly))
        ) {
          found.push(
            at(file, one.position, `${one.from}: adapters are imported by wiring.ts alone, with await import()`),
          );
        }
        return found;
      }),
    );
}
