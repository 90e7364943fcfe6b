import {
  indexedOpStoreConformance,
  prefixRegistryConformance,
  presenceBoardConformance,
} from '@tidemark/libs-op-store-contract/testing';
import { Scratch } from './scratch.ts';

// Every commit is synced; a busy disk takes its time.
jest.setTimeout(60_000);

let scratch: Scratch;
beforeEach(() => (scratch = new Scratch()));
afterEach(() => scratch.remove());

describe('the op store in SQLite', () => {
  const open = async () => (await scratch.open()).opStore;
  test.each(indexedOpStoreConformance)('$title', ({ run }) => run({ open, plant: (...op) => scratch.plant(...op) }));
});

describe('the prefix registry in SQLite', () => {
  const open = async () => (await scratch.open()).prefixRegistry;
  test.each(prefixRegistryConformance)('$title', ({ run }) => run({ open }));
});

describe('the presence board in SQLite', () => {
  const open = async () => (await scratch.open()).presenceBoard;
  test.each(presenceBoardConformance)('$title', ({ run }) => run({ open }));
});
