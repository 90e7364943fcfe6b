/**
 * The file format of declared reducers, version 1; docs/reducers.md explains every key. A `Template` is text with `{name}` in it, where a
 * name is one of the op's fields or one that `read` defines.
 */
export interface Declaration {
  readonly version: 1;
  /** By domain. */
  readonly domains: Readonly<Record<string, DomainDeclaration>>;
}

export type Template = string;

export interface DomainDeclaration {
  /** Raised whenever the answer for some op changes: then documents are folded anew. */
  readonly revision: number;
  /** By kind, then by field. A name that ends in `*` stands for every name that begins so. */
  readonly documents: Readonly<Record<string, Readonly<Record<string, FieldDeclaration>>>>;
  /** No two of them may take the same op, so their order means nothing. */
  readonly ops: readonly OpDeclaration[];
}

/** What two writes of one field become. */
export type Merge = 'last' | 'first' | 'set' | 'grow_only' | 'list' | 'latest' | 'counter';

export type FieldDeclaration = Merge | { readonly merge: Merge; readonly indexed: true };

export interface OpDeclaration {
  /** The ops that are meant: each named text is one of these. */
  readonly when: Readonly<Record<string, string | readonly string[]>>;
  /** How texts of the op are read, in this order; an op that cannot be read so is refused. */
  readonly read?: Readonly<Record<string, Reading>>;
  readonly writes: readonly WriteDeclaration[];
}

export type MemberType = 'text' | 'integer' | 'json' | 'text?' | 'integer?' | 'json?';

export type Reading =
  | 'text'
  | 'integer'
  | 'json'
  | { readonly text: { readonly not_blank?: true; readonly empty_is_null?: true; readonly bytes_max?: number } }
  | { readonly integer: { readonly min: number } }
  | { readonly json: Readonly<Record<string, MemberType>> }
  | { readonly list: { readonly by: string; readonly count_max?: number; readonly bytes_max?: number } }
  | { readonly split: { readonly by: string; readonly into: readonly string[] } };

/** A template, or a literal, or an object of such. A template that is one name alone keeps the type of what it names. */
export type ValueDeclaration = Template | number | boolean | null | { readonly [member: string]: ValueDeclaration };

export type RankDeclaration =
  number | Template | { readonly equal: readonly [Template, Template]; readonly then: number; readonly else: number };

/** What the op does to one document. */
export interface WriteDeclaration {
  readonly kind: Template;
  readonly id: Template;
  /** Compared before lamport and site, by the fields of `set`. */
  readonly rank?: RankDeclaration;
  readonly set?: Readonly<Record<Template, ValueDeclaration>>;
  readonly add?: Readonly<Record<Template, ValueDeclaration>>;
  /** The tags that the op saw and takes away: one, or a list. */
  readonly remove?: Readonly<Record<Template, Template>>;
  /** The total of the op's site. */
  readonly count?: Readonly<Record<Template, Template>>;
}
