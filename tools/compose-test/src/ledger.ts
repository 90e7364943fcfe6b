import { type JsonValue, writeJson } from '@tidemark/libs-wire';

/** What a service said it has taken. */
export interface Accepted {
  readonly stream: string;
  readonly opId: string;
  readonly kind: string;
  readonly id: string;
  /** JSON text without blanks, its keys in the order in which they were sent. */
  readonly body: string;
}

/** What the log holds of one stream, in its order. */
export interface LoggedOp {
  readonly opId: string;
}

/** By `kind id`: the field `body` of each folded document of a stream. */
export type View = ReadonlyMap<string, JsonValue | undefined>;

export const documentKey = (kind: string, id: string) => `${kind} ${id}`;

/** Everything that was accepted, to be held against the log and the view in the end. */
export class Ledger {
  readonly #streams = new Map<string, Map<string, Accepted>>();
  #size = 0;

  /** An op id that is accepted again is the same op. */
  add(accepted: Accepted): void {
    const { stream, opId } = accepted;
    const ops = this.#streams.get(stream) ?? new Map<string, Accepted>();
    this.#streams.set(stream, ops);
    if (!ops.has(opId)) this.#size += 1;
    ops.set(opId, accepted);
  }

  get size(): number {
    return this.#size;
  }

  get streams(): readonly string[] {
    return [...this.#streams.keys()];
  }

  /** One line for each promise that is broken in a stream; `log` and `view` are what was read there. */
  violations(stream: string, log: readonly LoggedOp[], view: View): string[] {
    const ops = this.#streams.get(stream) ?? new Map<string, Accepted>();
    const times = countsOf(log);
    return [
      ...[...times].filter(([, n]) => n > 1).map(([opId, n]) => `${stream}: op ${opId} is in the log ${n} times`),
      ...[...ops.keys()]
        .filter((opId) => !times.has(opId))
        .map((opId) => `${stream}: op ${opId} was accepted and lost`),
      ...[...ops.values()].flatMap((op) => viewProblem(op, view)),
    ];
  }
}

function viewProblem({ stream, kind, id, body }: Accepted, view: View): string[] {
  const folded = view.get(documentKey(kind, id));
  if (folded === undefined) return [`${stream}: ${kind} ${id} is not in the view`];
  const text = writeJson(folded);
  return text === body ? [] : [`${stream}: ${kind} ${id} is ${text} in the view, and ${body} was accepted`];
}

function countsOf(log: readonly LoggedOp[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { opId } of log) counts.set(opId, (counts.get(opId) ?? 0) + 1);
  return counts;
}
