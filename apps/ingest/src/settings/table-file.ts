import { z } from 'zod';
import {
  type CheckClause,
  EPOCH_UNITS,
  type Field,
  type InsertGrant,
  type SchemaCompiler,
  type TableSettings,
  type TimestampField,
  isScalar,
  openTable,
  parseField,
} from '@tidemark/libs-ingest';
import { refuse } from './refuse.ts';

export interface TableFileRules {
  /** For how long the queue drops repeats: an id that is forgotten sooner could be claimed anew, and its event dropped. */
  readonly retentionMsMin: number;
  readonly compileSchema: SchemaCompiler;
}

const field = z
  .string()
  .transform(
    (text, context): Field => parseField(text) ?? refuse(context, 'must be a member, or a JSON pointer to one'),
  );

const column = z
  .string()
  .min(1)
  .refine((name) => name.isWellFormed(), 'must be a text without half of a character');

const UNITS_MS = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const DAYS_MAX = 36_500;

const retention = (msMin: number) =>
  z.string().transform((text, context) => {
    if (text === 'forever') return 0;
    const [, count, unit] = /^([1-9]\d{0,9})([smhd])$/.exec(text) ?? [];
    if (count === undefined) return refuse(context, 'must be "forever", or a time such as 90s, 30m, 24h or 7d');
    const ms = Number(count) * UNITS_MS[unit as keyof typeof UNITS_MS];
    if (ms < msMin) return refuse(context, `must be at least ${msMin / 1000}s, for which the queue drops repeats`);
    return ms <= DAYS_MAX * UNITS_MS.d ? ms : refuse(context, `must be at most ${DAYS_MAX}d, or "forever"`);
  });

const SCALAR = 'must be a text that is not empty, a number without loss, true or false';
const scalar = z.unknown().refine(isScalar, SCALAR);
const claim = z.strictObject({ claim: field }).transform(({ claim: { path } }) => ({ kind: 'claim' as const, path }));

/** One clause for one column: `{"eq": value}` or `{"in": [values]}`, where `{"claim": name}` may stand for either. */
const clause = z
  .strictObject({
    eq: z
      .union(
        [claim, scalar.transform((value) => ({ kind: 'literal' as const, value }))],
        `${SCALAR}, or {"claim": ...}`,
      )
      .optional(),
    in: z
      .union(
        [
          claim,
          z
            .array(scalar)
            .min(1)
            .transform((value) => ({ kind: 'literal' as const, value })),
        ],
        'must be a list of values that is not empty, or {"claim": ...}',
      )
      .optional(),
  })
  .refine((operators) => Object.keys(operators).length === 1, 'must be either eq or in');

const grant = z
  .strictObject({
    insert: z.boolean(),
    columns: z.array(column).min(1).optional(),
    check: notEmpty(z.record(column, clause), 'a column').optional(),
  })
  .superRefine(({ insert, columns, check = {} }, context) => {
    if (!insert && (columns !== undefined || Object.keys(check).length > 0))
      context.addIssue({ code: 'custom', message: 'columns and check have no effect without insert' });
    for (const [name, { in: values }] of Object.entries(check))
      if (values !== undefined && columns !== undefined && !columns.includes(name))
        context.addIssue({
          code: 'custom',
          path: ['check', name],
          message: 'must be among the columns, since no record could have it',
        });
  });

const role = z.string().regex(/^[A-Za-z_][\w.-]{0,127}$/, 'a role is named like a word');

const timestamp = z.union(
  [
    field.transform((of): TimestampField => ({ ...of, epoch: null })),
    z
      .strictObject({ field, epoch: z.enum(EPOCH_UNITS) })
      .transform(({ field: of, epoch }): TimestampField => ({ ...of, epoch })),
  ],
  'must be a member, a JSON pointer to one, or {"field": ..., "epoch": "s", "ms", "us" or "ns"}',
);

/** `tables/<table>.json`. */
export const tableFile = (name: string, { retentionMsMin, compileSchema }: TableFileRules) =>
  z
    .strictObject({
      id_field: field.optional(),
      require_id: z.boolean().default(false),
      entity: field.optional(),
      retention: retention(retentionMsMin).optional(),
      ordered: z.boolean().default(false),
      timestamps: z
        .array(timestamp)
        .refine(
          (all) => new Set(all.map(({ path }) => JSON.stringify(path))).size === all.length,
          'a field is named twice',
        )
        .default([]),
      schema: z
        .union([z.boolean(), z.record(z.string(), z.unknown())], 'must be a JSON Schema')
        .transform((document, context) => {
          const compiled = compileSchema(document);
          return compiled.kind === 'compiled' ? compiled.schema : refuse(context, compiled.reason);
        })
        .optional(),
      grants: notEmpty(z.record(role, grant), 'a role').optional(),
    })
    .transform((file): TableSettings => ({
      name,
      idField: file.id_field ?? openTable(name).idField,
      entity: file.entity ?? null,
      requireId: file.require_id,
      retentionMs: file.retention ?? 0,
      ordered: file.ordered,
      schema: file.schema ?? null,
      grants:
        file.grants === undefined ? null : Object.entries(file.grants).flatMap(([of, one]) => insertGrant(of, one)),
      timestamps: file.timestamps,
    }));

function insertGrant(role: string, { insert, columns, check = {} }: z.output<typeof grant>): InsertGrant[] {
  const checks = Object.entries(check).map(
    ([name, { eq, in: values }]) =>
      ({ column: name, ...(eq ? { kind: 'eq', from: eq } : { kind: 'in', from: values }) }) as CheckClause,
  );
  return insert ? [{ role, columns: columns === undefined ? null : new Set(columns), checks }] : [];
}

/** An empty rule looks like one and is none. */
function notEmpty<Schema extends z.ZodType<object>>(schema: Schema, what: string) {
  return schema.refine((rules) => Object.keys(rules).length > 0, `must name ${what}; leave it out for no rule`);
}
