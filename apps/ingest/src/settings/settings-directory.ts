import type { TenantLookup, Tables } from '@tidemark/libs-ingest';
import { type Fault, type Sleeper, asFault } from '@tidemark/libs-kernel';
import type { SettingsFolder, TenantFiles } from './settings-folder.ts';
import type { ParsedTenant } from './tenant-settings.ts';

/** What becomes of a look at the folder. */
export interface SettingsReport {
  /** The tenant is served by its new settings. */
  loaded(tenant: string, tables: number): void;
  /** Its new settings are wrong: it is served by its last good ones, or not at all. */
  refused(tenant: string, problems: readonly string[], served: boolean): void;
  /** Its new settings are good and cannot be taken over now, because its queue cannot be opened; tried again at the next look. */
  postponed(tenant: string, fault: Fault): void;
  removed(tenant: string): void;
  /** The folder cannot be read: every tenant keeps its settings. */
  unreadable(fault: Fault): void;
}

export interface SettingsDirectoryParts {
  readonly folder: SettingsFolder;
  readonly parse: (tenant: string, files: TenantFiles) => ParsedTenant;
  /** Opens the tenant's queue, or gives it another budget; null: the usual one. */
  readonly openQueue: (tenant: string, budget: bigint | null) => Promise<void>;
  readonly report: SettingsReport;
}

interface Tenant {
  readonly lookup: TenantLookup;
  /** The files that were judged last; null: judge them again. */
  readonly files: TenantFiles | null;
  /** Undefined: its queue was not opened by this process. */
  readonly budget?: bigint | null;
}

const LOOK_MS = 5000;
/** A writer changes several files; most of that is over by then. */
const SETTLE_MS = 100;

/**
 * The tenants of a settings folder, kept up to date while `watch` runs. A tenant changes as a whole: a request sees its old settings or its
 * new ones. A tenant whose folder is gone is unknown; its queue and its ids stay.
 */
export class SettingsDirectory implements Tables {
  readonly #parts: SettingsDirectoryParts;
  readonly #tenants = new Map<string, Tenant>();

  private constructor(parts: SettingsDirectoryParts) {
    this.#parts = parts;
  }

  /** Rejects when the folder cannot be read, or the queue of a good tenant not opened. */
  static async open(parts: SettingsDirectoryParts): Promise<SettingsDirectory> {
    const directory = new SettingsDirectory(parts);
    for (const [tenant, files] of await parts.folder.read()) await directory.#take(tenant, files);
    return directory;
  }

  tenants(): readonly string[] {
    return [...this.#tenants.keys()];
  }

  tenant(id: string): TenantLookup {
    return this.#tenants.get(id)?.lookup ?? { kind: 'unknown' };
  }

  /** Takes over the folder as it is now. Never rejects. */
  async look(): Promise<void> {
    const { folder, report } = this.#parts;
    try {
      const found = await folder.read();
      for (const tenant of this.tenants()) {
        if (found.has(tenant)) continue;
        this.#tenants.delete(tenant);
        report.removed(tenant);
      }
      for (const [tenant, files] of found) {
        await this.#take(tenant, files).catch((thrown: unknown) => report.postponed(tenant, asFault(thrown)));
      }
    } catch (thrown) {
      report.unreadable(asFault(thrown));
    }
  }

  /** Looks when the folder tells of a change, and from time to time. Never rejects. */
  async watch(sleeper: Sleeper, signal: AbortSignal): Promise<void> {
    let told = new AbortController();
    const watcher = this.#parts.folder.watch(() => told.abort());
    while (!signal.aborted) {
      await sleeper.sleep(LOOK_MS, AbortSignal.any([signal, told.signal]));
      if (told.signal.aborted) await sleeper.sleep(SETTLE_MS, signal);
      if (signal.aborted) break;
      told = new AbortController();
      await this.look();
    }
    watcher.close();
  }

  /** Rejects when its queue cannot be opened; nothing has changed then. */
  async #take(tenant: string, files: TenantFiles): Promise<void> {
    const before = this.#tenants.get(tenant);
    if (before?.files != null && areSame(before.files, files)) return;
    const { parse, openQueue, report } = this.#parts;
    const parsed = parse(tenant, files);
    if (parsed.kind === 'bad') {
      const lookup = before?.lookup ?? { kind: 'invalid' };
      this.#tenants.set(tenant, { ...before, lookup, files });
      return report.refused(tenant, parsed.problems, lookup.kind === 'served');
    }
    const { budget, tables } = parsed.settings;
    if (before === undefined) this.#tenants.set(tenant, { lookup: { kind: 'invalid' }, files: null });
    if (before?.budget !== budget) await openQueue(tenant, budget);
    this.#tenants.set(tenant, { lookup: { kind: 'served', tables }, files, budget });
    report.loaded(tenant, tables.size);
  }
}

function areSame(one: TenantFiles, other: TenantFiles): boolean {
  if (one.size !== other.size) return false;
  return [...one].every(([name, content]) => {
    const now = other.get(name);
    return now?.kind === content.kind && textOf(now) === textOf(content);
  });
}

const textOf = (content: { readonly text: string } | { readonly problem: string }): string =>
  'text' in content ? content.text : content.problem;
