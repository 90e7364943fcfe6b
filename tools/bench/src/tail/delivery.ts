/** A way for one op to come from who writes it to who reads it, in another process. */
export interface Delivery {
  readonly name: string;
  /** Milliseconds from before the op is handed over until its reader has it. */
  deliver(): Promise<number>;
  /** How many were delivered; throws when one is missing, doubled or out of order. */
  verify(): number;
  close(): Promise<void>;
}

/** The same clock in every process of the machine. */
export const nowMs = (): number => Number(process.hrtime.bigint()) / 1e6;

export function inOrder(seen: readonly string[], sent: number): number {
  const wrong = seen.findIndex((id, n) => id !== `op-${n + 1}`);
  if (wrong !== -1 || seen.length !== sent) throw new Error(`${sent} sent, ${seen.length} seen, wrong at ${wrong}`);
  return sent;
}
