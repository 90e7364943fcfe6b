import { z } from 'zod';
import { type TableSettings, isTenantId } from '@tidemark/libs-ingest';
import { problemsOf } from '@tidemark/libs-service-kit';
import { escapeToken, unescapeToken } from '@tidemark/libs-wire';
import type { TenantFiles } from './settings-folder.ts';
import { readSettingsText } from './settings-text.ts';
import { type TableFileRules, tableFile } from './table-file.ts';

export interface TenantSettings {
  /** Bytes that its queue may hold; null: as many as the service gives to every tenant. */
  readonly budget: bigint | null;
  readonly tables: ReadonlyMap<string, TableSettings>;
}

export type ParsedTenant =
  | { readonly kind: 'good'; readonly settings: TenantSettings }
  /** Every problem, each with its file and the path in it. */
  | { readonly kind: 'bad'; readonly problems: readonly string[] };

const tenantFile = z.strictObject({
  budget: z
    .int('must be a number of bytes')
    .min(1)
    .transform((bytes) => BigInt(bytes))
    .optional(),
});

/** Makes settings of a tenant's files, or tells everything that is wrong with them. */
export function parseTenant(tenant: string, files: TenantFiles, rules: TableFileRules): ParsedTenant {
  const problems: string[] = [];
  const tables = new Map<string, TableSettings>();
  let budget: bigint | null = null;
  if (!isTenantId(tenant)) problems.push(`the folder: only letters, digits, _ and - make a tenant's name`);
  if (!files.has('tenant.json')) problems.push('tenant.json: is missing; {} is enough');
  for (const [name, content] of files) {
    const told = (problem: string) => problems.push(`${name}: ${problem}`);
    const table = tableOf(name);
    if (content.kind === 'unreadable') told(content.problem);
    else if (name === 'tenant.json') budget = parse(tenantFile, content.text, told)?.budget ?? null;
    else if (table === null) told('no settings file; tables are tables/<table>.json');
    else if (table === '') told('a table has a name');
    else if (`tables/${escapeToken(table)}.json` !== name) told(`must be named tables/${escapeToken(table)}.json`);
    else {
      const settings = parse(tableFile(table, rules), content.text, told);
      if (settings !== null) tables.set(table, settings);
    }
  }
  return problems.length === 0 ? { kind: 'good', settings: { budget, tables } } : { kind: 'bad', problems };
}

/** The table that a file is of: a name with other characters than letters, digits, _ and - has them as `%XX`. Null for other files. */
function tableOf(name: string): string | null {
  const token = /^tables\/([^/]*)\.json$/.exec(name)?.[1];
  return token === undefined ? null : (unescapeToken(token) ?? token.toWellFormed());
}

function parse<Schema extends z.ZodType>(
  schema: Schema,
  text: string,
  told: (problem: string) => void,
): z.output<Schema> | null {
  const read = readSettingsText(text);
  if (read.kind === 'unreadable') {
    told(read.problem);
    return null;
  }
  const parsed = schema.safeParse(read.document);
  for (const problem of parsed.success ? [] : problemsOf(parsed.error)) told(problem);
  return parsed.data ?? null;
}
