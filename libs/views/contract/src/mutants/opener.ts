import type { MemoryViewsStore } from '../memory-views.ts';
import type { Views } from '../views.ts';

/** Opens views over the given store. */
export type Opener = (store: MemoryViewsStore) => Views;

export type Mutants = Readonly<Record<string, Opener>>;
