import { isCode, packageOf, productionPaths } from './code.ts';
import { type SourceFile, type Violation, at } from './tree.ts';

/** Words that only somebody writes who knows what the broker is made of. */
const TECHNOLOGY = /nats|jetstream|\$JS\b|_INBOX\b/i;

/** The adapter itself; and where an operator chooses it, which is wiring, settings and what hands them on. */
const PLACES = [
  /^libs\/broker\/jetstream\//,
  /^apps\/[^/]+\/src\/(wiring|config)\.ts$/,
  /^libs\/service-kit\/src\/(broker-settings|index)\.ts$/,
];

/** What runs in production knows a broker by its contract alone (BRK-6). */
export function brokerNameRules(files: readonly SourceFile[]): Violation[] {
  const production = productionPaths(files);
  return files
    .filter((file) => isCode(file) && production.has(file.path))
    .filter((file) => !(packageOf(file) ?? 'tools/').startsWith('tools/'))
    .filter(({ path }) => PLACES.every((place) => !place.test(path)))
    .flatMap((file) => {
      const position = file.text.search(TECHNOLOGY);
      return position < 0 ? [] : [at(file, position, 'names the technology of a broker outside of its adapter')];
    });
}
