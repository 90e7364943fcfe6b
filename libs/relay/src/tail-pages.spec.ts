import { MemoryOpStore, someOps } from '@tidemark/libs-op-store-contract/testing';
import { TailPages } from './tail-pages.ts';

/** A store whose reads see what was there when they began, and answer when they are let. */
class HeldOpStore extends MemoryOpStore {
  readonly #answers: (() => void)[] = [];
  reads = 0;

  override async read(stream: string, after: bigint, limit: number) {
    this.reads += 1;
    const page = await super.read(stream, after, limit);
    await new Promise<void>((resolve) => this.#answers.push(resolve));
    return page;
  }

  answer(): void {
    for (const answer of this.#answers.splice(0)) answer();
  }
}

// kills: tail-pages.ts: JSON.stringify([this.#news(), => JSON.stringify([0,
test('R20, RLY-14: who is woken by an append shares no read that began before it', async () => {
  const store = new HeldOpStore();
  let news = 0;
  const pages = new TailPages(store, () => news);
  const before = [pages.shared('s', 0n, 10), pages.shared('s', 0n, 10)];
  await store.append('s', someOps(1));
  news += 1;
  const after = pages.shared('s', 0n, 10);
  await Promise.resolve();
  store.answer();
  await Promise.all(before);
  store.answer();
  expect((await after).next).toBe(1n);
  expect((await Promise.all(before)).map(({ next }) => next)).toEqual([0n, 0n]);
  expect(store.reads).toBe(2);
});

// kills: tail-pages.ts: reading.then(forget, forget) => void forget
test('RLY-14: a read that ended is not shared any more', async () => {
  const store = new HeldOpStore();
  const pages = new TailPages(store, () => 0);
  for (let reads = 1; reads <= 2; reads++) {
    const page = pages.shared('s', 0n, 10);
    for (let turn = 0; turn < 20; turn++) await undefined;
    expect(store.reads).toBe(reads);
    store.answer();
    await page;
  }
  expect(store.reads).toBe(2);
});
