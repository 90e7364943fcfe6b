import { readFileSync } from 'node:fs';
import { z } from 'zod';

/**
 * Settings of a service: environment variables by their full names, each with a zod schema that carries its description.
 * Parsed before Nest starts; all problems are reported together, each naming its variable (OPS-2).
 */
export type SettingsShape = Record<string, z.ZodType>;
export type Settings<S extends SettingsShape> = { [Name in keyof S]: z.output<S[Name]> };

/** Every problem of a configuration, one line each. */
export class SettingsProblem extends Error {
  override readonly name = 'SettingsProblem';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.problems = problems;
  }
}

/** Settings whose values are never shown, and which may come from a file. */
const secrets = new WeakSet<z.ZodType>();

/**
 * A setting that is a secret, such as a URL with a password: `NAME_FILE` may name a file that holds it instead, and no problem,
 * help text or log quotes it. The outermost wrapping of a schema, because it is known by its object.
 */
export function secret<Schema extends z.ZodType>(schema: Schema): Schema {
  secrets.add(schema);
  return schema;
}

/** What must hold between settings; looks at the texts that were given, and tells each problem in a line. */
export type SettingsRule = (given: Readonly<Record<string, string>>) => readonly string[];

/** `host:port`; an IPv6 host stands in brackets. */
export interface Address {
  readonly host: string;
  readonly port: number;
}

export const address = z.string().transform((text, context): Address => {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([^:\s]+)):(\d{1,5})$/.exec(text);
  const port = Number(match?.[3]);
  if (match === null || port > 65535) {
    context.addIssue({ code: 'custom', message: 'must be host:port, such as 127.0.0.1:8787' });
    return z.NEVER;
  }
  return { host: match[1] ?? match[2] ?? '', port };
});

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\.\d+\.\d+\.\d+$/.test(host);
}

/** Whole seconds as a setting, given to the code in milliseconds. */
export function seconds(bounds: { min: number; max: number; default: number }) {
  return z.coerce
    .number()
    .int()
    .min(bounds.min)
    .max(bounds.max)
    .transform((secs) => secs * 1000)
    .prefault(bounds.default);
}

/** `on` or `off`. */
export function onOff(standard: 'on' | 'off') {
  return z
    .enum(['on', 'off'])
    .transform((word) => word === 'on')
    .prefault(standard);
}

/**
 * Parses the variables of `shape`. Unknown variables that begin with `prefix` or `TIDEMARK_` are refused, except the names that
 * Kubernetes adds for a service of that name. An empty value counts as unset. Files of secrets are read here, once.
 */
export function parseSettings<S extends SettingsShape>(
  shape: S,
  prefix: string,
  env: Readonly<Record<string, string | undefined>>,
  rules: readonly SettingsRule[] = [],
): Settings<S> {
  const given: Record<string, string> = {};
  const problems: string[] = [];
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined || value === '') continue;
    if (Object.hasOwn(shape, name)) given[name] = value;
    else if (isOurs(name, prefix) && !isServiceLink(name) && secretOfFile(name, shape) === undefined)
      problems.push(`${name}: unknown setting${nearest(name, shape)}`);
  }
  problems.push(...readSecrets(shape, env, given));
  const parsed = z.object(shape).safeParse(given);
  for (const issue of parsed.error?.issues ?? []) {
    const name = String(issue.path[0]);
    const shown =
      given[name] === undefined || isSecret(name, shape) ? '' : `, not ${JSON.stringify(withoutPassword(given[name]))}`;
    problems.push(`${name}: ${issue.message}${shown}`);
  }
  problems.push(...rules.flatMap((rule) => rule(given)));
  if (problems.length > 0 || !parsed.success) throw new SettingsProblem(problems.sort());
  return parsed.data as Settings<S>;
}

/** A URL may hold a password, whatever the setting is for. */
const withoutPassword = (text: string): string => text.replace(/\/\/[^/?#]*@/g, '//...@');

const isSecret = (name: string, shape: SettingsShape): boolean => shape[name] !== undefined && secrets.has(shape[name]);

/** The secret setting that the variable names a file of. */
function secretOfFile(name: string, shape: SettingsShape): string | undefined {
  const of = name.endsWith('_FILE') ? name.slice(0, -'_FILE'.length) : '';
  return isSecret(of, shape) ? of : undefined;
}

/** Puts the secrets that stand in files among the given; a file's last line break is not part of the secret. */
function readSecrets(
  shape: SettingsShape,
  env: Readonly<Record<string, string | undefined>>,
  given: Record<string, string>,
): string[] {
  return Object.entries(env).flatMap(([variable, file]) => {
    const name = secretOfFile(variable, shape);
    if (name === undefined || file === undefined || file === '') return [];
    if (given[name] !== undefined) return [`${name}: is given, and ${variable} is too; one of them is enough`];
    try {
      given[name] = readFileSync(file, 'utf8').replace(/\r?\n$/, '');
      return given[name] === '' ? [`${variable}: ${file} is empty`] : [];
    } catch (error) {
      return [`${variable}: cannot read ${file} (${(error as NodeJS.ErrnoException).code})`];
    }
  });
}

/** One line per setting, for --help. */
export function describeSettings(shape: SettingsShape): string {
  const width = Math.max(...Object.keys(shape).map((name) => name.length));
  const rows = Object.entries(shape).map(([name, schema]) => {
    const { defaultValue } = schema.def as { defaultValue?: unknown };
    const value = defaultValue === undefined ? '' : ` [${String(defaultValue)}]`;
    const file = secrets.has(schema) ? `; or ${name}_FILE names a file with it` : '';
    return `  ${name.padEnd(width)}  ${schema.description ?? schema.meta()?.description ?? ''}${file}${value}`;
  });
  return rows.join('\n');
}

function isOurs(name: string, prefix: string): boolean {
  return name.startsWith(prefix) || name.startsWith('TIDEMARK_');
}

function isServiceLink(name: string): boolean {
  return /_SERVICE_(HOST|PORT(_.+)?)$|_PORT(_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?$/.test(name);
}

function nearest(name: string, shape: SettingsShape): string {
  const similar = Object.keys(shape).find((known) => distance(known, name) <= 3);
  return similar === undefined ? '' : ` (did you mean ${similar}?)`;
}

/** Levenshtein distance; names are short. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      next[j] = Math.min(
        (next[j - 1] ?? 0) + 1,
        (row[j] ?? 0) + 1,
        (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1),
      );
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
