import { Fault } from '@tidemark/libs-kernel';
import { JsonNumber, type JsonValue, parseInt64 } from '@tidemark/libs-wire';
import { Members } from './answer-json.ts';
import { type Answer, refused } from './exchange.ts';
import { segment } from './path-segment.ts';
import { type CallOptions, Service, type ServiceOptions } from './service.ts';

export interface ReadOptions extends CallOptions {
  /** Read no earlier state than this: the mark must be at least this seq, such as the `highestSeq` of a push. */
  readonly minSeq?: bigint;
  /** Instead: the op of this id must be folded, such as the `op` that ingest answered. It may still be on its way into the log. */
  readonly minOp?: string;
  /** How long the worker may wait for that, in whole seconds up to 55; default 25. */
  readonly waitSecs?: number;
}

/** `late`: the mark has not come as far as `minSeq` or `minOp` in time; nothing was read. */
export interface Late {
  readonly kind: 'late';
  readonly foldedThrough: bigint;
}

export interface FoldedDocument {
  readonly kind: 'document';
  readonly id: string;
  /** Values to the digit they were written with. */
  readonly fields: ReadonlyMap<string, JsonValue>;
  /** It holds at least every op up to this seq. */
  readonly foldedThrough: bigint;
}

export interface DocumentsPage {
  readonly kind: 'page';
  readonly documents: readonly FoldedDocument[];
  /** The `after` of the following page; null when this one reached the end. */
  readonly next: string | null;
  readonly foldedThrough: bigint;
}

export interface Watermark {
  readonly kind: 'watermark';
  readonly epoch: bigint;
  readonly foldedThrough: bigint;
  /** Ranges above the mark that are folded as well. */
  readonly ahead: readonly (readonly [bigint, bigint])[];
  /** Passed without proof; watched. */
  readonly skipped: readonly (readonly [bigint, bigint])[];
  readonly floor: bigint;
}

export interface ListOptions extends ReadOptions {
  /** Documents above this id; default: from the first one. */
  readonly after?: string;
  readonly limit?: number;
}

const WAIT_SECS = 25;

/** Sends nothing by itself. */
export const connectFold = (options: ServiceOptions): FoldClient => new FoldClient(options);

/** What the fold-worker made of a stream. Every call reads, so each may be repeated. */
export class FoldClient {
  readonly #service: Service;

  constructor(options: ServiceOptions) {
    this.#service = new Service(options);
  }

  /** null: there is no such document. */
  async document(
    stream: string,
    kind: string,
    id: string,
    options: ReadOptions = {},
  ): Promise<FoldedDocument | Late | null> {
    const path = `${documentsPath(stream, kind)}/${segment(id)}`;
    return this.#read(path, {}, options, [404], ({ status, body }) => {
      if (status === 404) return null;
      const members = Members.of(body);
      return documentIn(members, members.int64('folded_through'));
    });
  }

  /** One page of the documents of a kind, in the UTF-8 order of their ids. */
  async documents(stream: string, kind: string, options: ListOptions = {}): Promise<DocumentsPage | Late> {
    const { after, limit } = options;
    return this.#read(documentsPath(stream, kind), { after, limit }, options, [], ({ body }): DocumentsPage => {
      const members = Members.of(body);
      const foldedThrough = members.int64('folded_through');
      const documents = members.list('documents').map((one) => documentIn(one, foldedThrough));
      return { kind: 'page', documents, next: members.textOrNull('next'), foldedThrough };
    });
  }

  async watermark(stream: string, options: ReadOptions = {}): Promise<Watermark | Late> {
    const path = `/v1/streams/${segment(stream)}/watermark`;
    return this.#read(path, {}, options, [], ({ body }) => watermarkIn(Members.of(body)));
  }

  /** Resolves when the op of that id is folded, however long that takes; end it by the signal. */
  async waitForOp(stream: string, opId: string, options: CallOptions = {}): Promise<Watermark> {
    for (;;) {
      const mark = await this.watermark(stream, { ...options, minOp: opId });
      if (mark.kind === 'watermark') return mark;
    }
  }

  /** Resolves when everything up to `seq` is folded, however long that takes; end it by the signal. */
  async waitFor(stream: string, seq: bigint, options: CallOptions = {}): Promise<Watermark> {
    for (;;) {
      const mark = await this.watermark(stream, { ...options, minSeq: seq });
      if (mark.kind === 'watermark') return mark;
    }
  }

  #read<T>(
    path: string,
    query: Readonly<Record<string, string | number | undefined>>,
    options: ReadOptions,
    answers: readonly number[],
    read: (answer: Answer) => T,
  ): Promise<T | Late> {
    const { minSeq, minOp, waitSecs = WAIT_SECS, signal } = options;
    const waits = minSeq !== undefined || minOp !== undefined;
    const wait = waits ? { min_seq: minSeq?.toString(), min_op: minOp, wait: waitSecs } : {};
    const search = new URLSearchParams();
    for (const [name, value] of Object.entries({ ...query, ...wait }))
      if (value !== undefined) search.set(name, String(value));
    const waitMs = waits ? waitSecs * 1000 : 0;
    const request = { method: 'GET', path: `${path}?${search}`, answers: [...answers, 504], waitMs, signal } as const;
    return this.#service.call(request, (answer) => (answer.status === 504 ? this.#late(answer) : read(answer)));
  }

  /** A 504 of the fold-worker tells its mark; one without is a proxy's, and is tried again like any fault. */
  #late(answer: Answer): Late {
    try {
      return { kind: 'late', foldedThrough: Members.of(answer.body).int64('folded_through') };
    } catch {
      throw refused(answer, this.#service.world.clock);
    }
  }
}

function documentsPath(stream: string, kind: string): string {
  return `/v1/streams/${segment(stream)}/documents/${segment(kind)}`;
}

function documentIn(members: Members, foldedThrough: bigint): FoldedDocument {
  const fields = new Map(members.object('fields').entries());
  return { kind: 'document', id: members.text('id'), fields, foldedThrough };
}

function watermarkIn(members: Members): Watermark {
  return {
    kind: 'watermark',
    epoch: members.int64('epoch'),
    foldedThrough: members.int64('folded_through'),
    ahead: rangesIn('ahead', members.value('ahead')),
    skipped: rangesIn('skipped', members.value('skipped')),
    floor: members.int64('floor'),
  };
}

function rangesIn(name: string, value: JsonValue): (readonly [bigint, bigint])[] {
  if (!Array.isArray(value)) throw new Fault('invalid', `${name}: expected an array`);
  return value.map((range) => {
    const [from, to] = Array.isArray(range) ? range.map(seqIn) : [];
    if (from === undefined || to === undefined) throw new Fault('invalid', `${name}: expected pairs of seqs`);
    return [from, to] as const;
  });
}

function seqIn(value: JsonValue): bigint {
  const seq = value instanceof JsonNumber ? parseInt64(value.text) : null;
  if (seq === null) throw new Fault('invalid', 'expected a seq');
  return seq;
}
