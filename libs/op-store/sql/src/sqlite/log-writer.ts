import { Fault } from '@tidemark/libs-kernel';
import { prepareAnnounce } from './announce.ts';
import { prepareAppend } from './append.ts';
import { prepareClaim } from './claim.ts';
import type { Answer, Command, Outcome, WriterSettings, Written } from './command.ts';
import { prepareErase } from './erase.ts';
import { Heads } from './heads.ts';
import { type FaultData, isBusy, isDiskError, isInDoubt, mapError, toData } from './map-error.ts';
import type { Handle } from './open-file.ts';
import { BUSY_SLICE_MS } from './open-to-write.ts';
import { prepareTransaction, type Transaction } from './transaction.ts';

/** A connection that writes, with its statements. */
interface OpenLog {
  readonly handle: Handle;
  readonly transaction: Transaction;
  run(command: Command): Answer;
}

/** The end of a process: a disk that failed twice is not written any more. */
const DISK_ERRORS_MAX = 2;

/**
 * Writes batches of commands, synchronously. A batch is one transaction and one fsync. When it fails and surely left nothing, its halves are
 * tried by themselves, and so on: a command that cannot be stored fails alone, and the others pay nothing for it as long as there is none.
 *
 * After a COMMIT that a disk error left open, the system may have dropped what it could not write, and would say so only once. Nothing
 * is written before the file was opened anew and its whole log is moved to the main file and emptied: then what is in doubt is
 * surely gone, and a later commit never stands behind a gap. The second disk error is fatal.
 */
export class LogWriter {
  readonly #file: string;
  readonly #tries: number;
  readonly #open: () => Handle;
  #triesLeft = 0;
  #log: OpenLog | null = null;
  #inDoubt = false;
  #diskErrors = 0;
  #fatal: FaultData | null = null;

  /** @param open answers a handle that waits BUSY_SLICE_MS for a lock */
  constructor({ file, busyTimeoutMs }: WriterSettings, open: () => Handle) {
    this.#file = file;
    this.#tries = Math.max(1, Math.ceil(busyTimeoutMs / BUSY_SLICE_MS));
    this.#open = open;
  }

  /**
   * While another process writes it waits, as long as `busyTimeoutMs` since the first batch, or since the file could last be written.
   * A batch that comes after this time is tried once.
   */
  write(batch: readonly Command[], first = true): Written {
    if (first) this.#triesLeft = this.#tries;
    return { outcomes: this.#join(batch), fatal: this.#fatal };
  }

  close(): void {
    this.#log?.handle.close();
    this.#log = null;
  }

  #join(batch: readonly Command[]): Outcome[] {
    try {
      return this.#patiently(() => {
        const { transaction, run } = this.#ready();
        return transaction(() => batch.map((command): Outcome => ({ kind: 'done', answer: run(command) })));
      });
    } catch (thrown) {
      const fault = mapError(thrown, this.#file);
      this.#judge(thrown, fault);
      const halvesMayStand = this.#log !== null && !this.#inDoubt && !isBusy(thrown);
      if (batch.length > 1 && halvesMayStand) return this.#halve(batch);
      return batch.map(() => ({ kind: 'failed', fault: toData(fault) }));
    }
  }

  #halve(batch: readonly Command[]): Outcome[] {
    const half = batch.length >>> 1;
    return [...this.#join(batch.slice(0, half)), ...this.#join(batch.slice(half))];
  }

  /** Tries again while another process writes. */
  #patiently<T>(work: () => T): T {
    for (;;) {
      try {
        const result = work();
        this.#triesLeft = this.#tries;
        return result;
      } catch (thrown) {
        if (!isBusy(thrown) || --this.#triesLeft <= 0) throw thrown;
      }
    }
  }

  #judge(thrown: unknown, fault: Fault): void {
    this.#inDoubt ||= isInDoubt(thrown);
    if (this.#inDoubt && isDiskError(thrown) && ++this.#diskErrors >= DISK_ERRORS_MAX) this.#fatal ??= toData(fault);
  }

  /** The open log, opened anew and emptied first when it is in doubt. */
  #ready(): OpenLog {
    if (this.#fatal !== null)
      throw new Fault('unavailable', `${this.#file} takes no more writes: ${this.#fatal.message}`);
    if (this.#inDoubt) this.close();
    this.#log ??= openLog(this.#open());
    if (this.#inDoubt) {
      emptyLog(this.#log.handle, this.#file);
      this.#inDoubt = false;
    }
    return this.#log;
  }
}

function openLog(handle: Handle): OpenLog {
  const heads = new Heads(handle);
  const append = prepareAppend(handle, heads);
  const erase = prepareErase(handle);
  const claim = prepareClaim(handle);
  const announce = prepareAnnounce(handle);
  const run = (command: Command): Answer => {
    switch (command.kind) {
      case 'append':
        return append(command);
      case 'erase':
        return erase(command);
      case 'claim':
        return claim(command);
      case 'announce':
        return announce(command);
    }
  };
  return { handle, transaction: heads.within(prepareTransaction(handle)), run };
}

function emptyLog(handle: Handle, file: string): void {
  const busy = handle.pragma('wal_checkpoint(TRUNCATE)', { simple: true });
  if (busy !== 0) {
    throw new Fault(
      'unavailable',
      `${file} is in use, and after a disk error its log must be emptied before the next write`,
    );
  }
}
