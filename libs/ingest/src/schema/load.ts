import type { Compiled } from './compile.ts';

export type SchemaCompiler = (document: object | boolean) => Compiled;

/** Loads the schema engine, which a service without schemas need not have in memory. */
export async function loadSchemaCompiler(): Promise<SchemaCompiler> {
  const { compileSchema } = await import('./compile.ts');
  return compileSchema;
}
