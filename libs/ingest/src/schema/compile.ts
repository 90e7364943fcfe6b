import { createHash } from 'node:crypto';
import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js';
import type { JsonObject } from '@tidemark/libs-wire';
import { quoted } from '../permission.ts';
import type { Edit } from '../rewrite.ts';
import type { RecordSchema, SchemaVerdict } from '../tables.ts';
import { FORMATS } from './formats.ts';
import { COMPARING } from './keywords.ts';
import { Pattern } from './pattern.ts';
import { type Plain, RepeatedMember, canonicalText, toPlain } from './plain.ts';

/** `refused`: no schema of JSON Schema 2020-12, or one with a keyword or format that is not known. */
export type Compiled =
  { readonly kind: 'compiled'; readonly schema: RecordSchema } | { readonly kind: 'refused'; readonly reason: string };

/**
 * Compiles a schema once for all records. Numbers are judged as doubles: an integer of any length is an integer, neighbours beyond 2^53
 * are equal to bounds and constants, and a number beyond the doubles is none. Records are never changed by it.
 */
export function compileSchema(document: object | boolean): Compiled {
  try {
    refuseUngrammatical(document);
    const validate = engine().compile(document);
    // What has no end for a record of nothing is told at once.
    validate({});
    const judge = (record: JsonObject, added: readonly Edit[]): SchemaVerdict => {
      const plain = toPlain(record) as Record<string, Plain>;
      for (const { field, value } of added) plain[field.path[0] ?? ''] = value;
      return validate(plain) ? null : { kind: 'schema', error: describe(validate.errors?.at(-1)) };
    };
    return {
      kind: 'compiled',
      schema: { hash: hashOf(document), judge: (...of) => refusing(() => judge(...of)) },
    };
  } catch (thrown) {
    return { kind: 'refused', reason: thrown instanceof RangeError ? ENDLESS : (thrown as Error).message };
  }
}

/** Holds schemas against the schema of schemas. One for all of them: it is what takes the longest to compile. */
let grammar: Ajv2020 | null = null;

function refuseUngrammatical(document: object | boolean): void {
  grammar ??= new Ajv2020({ logger: false });
  if (grammar.validateSchema(document) !== true) throw new Error(grammar.errorsText(undefined, { dataVar: 'schema' }));
}

/** One for each schema, so that no `$id` of one means anything to another. */
function engine(): Ajv2020 {
  const ajv = new Ajv2020({
    meta: false,
    validateSchema: false,
    // What is not known is refused, not passed over.
    strictSchema: true,
    strictTypes: false,
    strictTuples: false,
    logger: false,
    formats: { ...FORMATS },
    // Dynamic lists of evaluated members must inherit nothing either.
    code: {
      regExp: patterns,
      process: (code) => code.replace(/\b(let|var|const) (props\d+) = \{\}/g, '$1 $2 = Object.create(null)'),
    },
  });
  for (const definition of COMPARING) ajv.removeKeyword(definition.keyword as string).addKeyword(definition);
  return ajv;
}

const patterns = Object.assign((source: string) => new Pattern(source), { code: 'patterns' });

/** A schema that refers to itself without a step into the record has no end; whether it does may depend on the record. */
const ENDLESS = 'the schema refers to itself without end';

function refusing(judge: () => SchemaVerdict): SchemaVerdict {
  try {
    return judge();
  } catch (thrown) {
    if (thrown instanceof RangeError) return { kind: 'schema', error: `the record: ${ENDLESS}` };
    if (!(thrown instanceof RepeatedMember)) throw thrown;
    return { kind: 'repeated', error: `member ${quoted(thrown.member)} is given twice` };
  }
}

const PATH_CHARS_MAX = 256;

/** `/a/b: must be integer`. It holds names of the record and texts of the schema, and no value of the record. */
function describe(error: ErrorObject | undefined): string {
  const path = error?.instancePath ?? '';
  const where = path === '' ? 'the record' : cut(path, PATH_CHARS_MAX);
  const { additionalProperty, unevaluatedProperty } = (error?.params ?? {}) as Record<string, unknown>;
  const extra = additionalProperty ?? unevaluatedProperty;
  const which = typeof extra === 'string' ? `: ${quoted(extra)}` : '';
  return `${where}: ${cut(error?.message ?? 'does not fit the schema', 2 * PATH_CHARS_MAX)}${which}`;
}

const cut = (text: string, charsMax: number): string =>
  text.length <= charsMax ? text : `${text.slice(0, charsMax).toWellFormed()}…`;

/** By which two settings can be told to have the same schema, whatever the order of its members. */
const hashOf = (document: object | boolean): string =>
  createHash('sha256')
    .update(canonicalText(document as Plain))
    .digest('hex')
    .slice(0, 16);
