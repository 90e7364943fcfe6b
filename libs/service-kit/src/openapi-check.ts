import { Ajv2020 } from 'ajv/dist/2020.js';

/** A part of a document, of which only the shape of JSON is known. */
export interface Part {
  readonly [name: string]: Part;
}

interface Operation {
  readonly template: string;
  readonly method: string;
  readonly operation: Part;
}

/** Told to people and generators; not judged. */
const FORMATS = { int64: true, 'date-time': true } as const;
const METHODS = ['get', 'post', 'put', 'delete'];

/** Holds a running service to its OpenAPI document: its routes, and every answer that was asked for through `ask`. For specs. */
export class OpenApiCheck {
  readonly document: Part;
  readonly #ajv = new Ajv2020({ strict: false, formats: FORMATS });
  readonly #operations: readonly Operation[];
  readonly #answered = new Set<string>();

  constructor(document: unknown) {
    this.document = JSON.parse(JSON.stringify(document)) as Part;
    this.#ajv.addSchema(this.document, 'document');
    this.#operations = Object.entries(this.document.paths as Part).flatMap(([template, item]) =>
      METHODS.filter((method) => method in item).map((method) => ({
        template,
        method,
        operation: item[method] as Part,
      })),
    );
  }

  /** `GET /a/{b}`, sorted. */
  get routes(): string[] {
    return this.#operations.map(({ template, method }) => `${method.toUpperCase()} ${template}`).sort();
  }

  /** Pointers that point nowhere, components that nothing points to, and schemas that are none; empty for a sound document. */
  defects(): string[] {
    const pointers = parts(this.document).flatMap((part) => refOf(part) ?? []);
    const { securitySchemes: _, ...components } = this.document.components as Part;
    const named = Object.entries(components).flatMap(([kind, all]) =>
      Object.keys(all).map((name) => `#/components/${kind}/${name}`),
    );
    const strict = new Ajv2020({ strict: true, strictTypes: false, formats: FORMATS });
    const schemas = Object.entries(components.schemas as Part);
    return [
      ...pointers.filter((pointer) => this.#at(pointer) === undefined).map((pointer) => `nothing is at ${pointer}`),
      ...named.filter((one) => !pointers.includes(one)).map((one) => `nothing points to ${one}`),
      ...schemas.filter(([, schema]) => strict.validateSchema(schema) !== true).map(([name]) => `no schema: ${name}`),
    ];
  }

  /** Asks, and throws where the answer is another than the document says of it; answers the status. */
  async ask(base: string, method: string, place: string, init: RequestInit = {}): Promise<number> {
    const answer = await fetch(`${base}${place}`, { method, ...init });
    const found = this.#operations.find(
      (one) => one.method === method.toLowerCase() && patternOf(one.template).test(place.split('?')[0] as string),
    );
    const told = this.#resolved((found?.operation.responses as Part | undefined)?.[String(answer.status)]);
    const body = await answer.text();
    if (told === undefined) throw new Error(`${method} ${place}: ${answer.status} is not in the document: ${body}`);
    for (const [name, reference] of Object.entries(told.headers ?? {}))
      if ((this.#resolved(reference)?.required as unknown) && answer.headers.get(name) === null)
        throw new Error(`${method} ${place}: ${answer.status} without ${name}`);
    this.#checkBody(`${method} ${place}: ${answer.status}`, told, answer.headers.get('content-type'), body);
    if (answer.ok) this.#answered.add(String(found?.operation.operationId));
    return answer.status;
  }

  /** Operations that were not asked, or never answered well. */
  unanswered(): string[] {
    const all = this.#operations.map(({ operation }) => String(operation.operationId));
    return all.filter((id) => !this.#answered.has(id)).sort();
  }

  #checkBody(what: string, { content }: Part, contentType: string | null, body: string): void {
    const type = contentType?.split(';')[0] ?? '';
    if (content === undefined) {
      if (body !== '') throw new Error(`${what} with a body`);
      return;
    }
    if (!(type in content)) throw new Error(`${what} of the type ${type}`);
    if (type !== 'application/json') return;
    const valid = this.#ajv.compile({ $ref: `document${content[type]?.schema?.$ref as unknown as string}` });
    if (!valid(JSON.parse(body))) throw new Error(`${what}: ${body}: ${JSON.stringify(valid.errors)}`);
  }

  #resolved(part: Part | undefined): Part | undefined {
    const pointer = part === undefined ? undefined : refOf(part);
    return pointer === undefined ? part : this.#at(pointer);
  }

  #at(pointer: string): Part | undefined {
    return pointer
      .slice(2)
      .split('/')
      .reduce<Part | undefined>(
        (part, name) => part?.[name.replaceAll('~1', '/').replaceAll('~0', '~')],
        this.document,
      );
  }
}

const refOf = (part: Part) => part.$ref as unknown as string | undefined;

const parts = (part: unknown): Part[] =>
  typeof part === 'object' && part !== null ? [part as Part, ...Object.values(part).flatMap(parts)] : [];

const patternOf = (template: string) => new RegExp(`^${template.replaceAll(/\{\w+\}/g, '[^/]+')}$`);
