import { setImmediate as turn } from 'node:timers/promises';
import type { IndexedOpStore } from '@tidemark/libs-op-store-contract';
import {
  indexedOpStoreConformance,
  prefixRegistryConformance,
  presenceBoardConformance,
} from '@tidemark/libs-op-store-contract/testing';
import { Scratch } from './scratch.ts';

jest.setTimeout(120_000);

let scratch: Scratch;
beforeEach(() => (scratch = new Scratch()));
afterEach(() => scratch.remove());

describe('the stores in SQLite, each handle with its own writer thread', () => {
  const open = async () => turning((await scratch.openWithThread()).opStore);
  test.each(indexedOpStoreConformance)('$title', ({ run }) => run({ open, plant: (...op) => scratch.plant(...op) }));

  const openRegistry = async () => (await scratch.openWithThread()).prefixRegistry;
  test.each(prefixRegistryConformance)('$title', ({ run }) => run({ open: openRegistry }));

  const openBoard = async () => (await scratch.openWithThread()).presenceBoard;
  test.each(presenceBoardConformance)('$title', ({ run }) => run({ open: openBoard }));
});

/** A case that reads in a loop would not let this thread hear of its writes, because a read ends without a turn of the event loop. */
function turning(store: IndexedOpStore): IndexedOpStore {
  return {
    ...store,
    read: (...args) => turn().then(() => store.read(...args)),
    changes: (...args) => turn().then(() => store.changes(...args)),
  };
}
