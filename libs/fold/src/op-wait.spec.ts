import { ManualTime } from '@tidemark/libs-kernel/testing';
import { MemoryOpStore, anOp } from '@tidemark/libs-op-store-contract/testing';
import { MemoryViews, MemoryViewsStore } from '@tidemark/libs-views-contract/testing';
import { MarkWatch } from './mark-watch.ts';
import { waitForOp } from './op-wait.ts';

const STREAM = '0.events';

function rig() {
  const time = new ManualTime();
  const opStore = new MemoryOpStore();
  const views = new MemoryViews(new MemoryViewsStore());
  const watch = new MarkWatch({ views, sleeper: time });
  const seqOf = opStore.seqOf.bind(opStore);
  let looks = 0;
  opStore.seqOf = (stream, opId) => {
    looks++;
    return seqOf(stream, opId);
  };
  return {
    time,
    looks: () => looks,
    append: (opId: string) => opStore.append(STREAM, [anOp({ opId })]),
    /** Saves the mark as this process would. */
    fold: async (foldedThrough: bigint) => {
      const version = (await views.mark(STREAM))?.version ?? 0;
      const watermark = { foldedThrough, ahead: [], holes: [], skipped: [], floor: 0n };
      await views.saveMark(STREAM, 1, watermark, version, new Map());
      watch.saved(STREAM, (await views.mark(STREAM))!);
    },
    wait: (opId: string, waitMs: number, signal?: AbortSignal) =>
      waitForOp({ opStore, clock: time, waitFor: (...asked) => watch.waitFor(...asked) }, STREAM, opId, waitMs, signal),
    /** So much time goes by, and what is due happens. */
    pass: async (ms: number) => {
      for (let at = 0; at < ms; at += 50) {
        for (let i = 0; i < 20; i++) await null;
        time.advance(50);
      }
      for (let i = 0; i < 20; i++) await null;
    },
  };
}

describe('waiting for an op', () => {
  test('FLD-8: answers at once when it is folded', async () => {
    const { append, fold, wait } = rig();
    await append('a');
    await fold(1n);
    expect(await wait('a', 0)).toMatchObject({ seq: 1n, reached: true, mark: { watermark: { foldedThrough: 1n } } });
  });

  // kills: op-wait.ts: if (seq !== null) return => if (seq !== null && leftMs <= 0) return
  test('FLD-8: that is in the log ends when its seq is folded', async () => {
    const { append, fold, wait, looks } = rig();
    await append('a');
    const waiting = wait('a', 10_000);
    for (let i = 0; i < 50; i++) await null;
    await fold(1n);
    expect(await waiting).toMatchObject({ seq: 1n, reached: true });
    expect(looks()).toBe(1);
  });

  test('FLD-8: that is not in the log yet is looked for whenever the mark moves', async () => {
    const { append, fold, wait, time } = rig();
    const waiting = wait('b', 10_000);
    for (let i = 0; i < 50; i++) await null;
    await append('a');
    await append('b');
    await fold(2n);
    expect(await waiting).toMatchObject({ seq: 2n, reached: true });
    expect(time.monotonic()).toBe(0);
  });

  test('FLD-8: that never comes ends in time with the mark, and does not hammer the log', async () => {
    const { append, fold, wait, looks, pass } = rig();
    await append('a');
    await fold(1n);
    const waiting = wait('never', 5000);
    await pass(6000);
    expect(await waiting).toMatchObject({ seq: null, reached: false, mark: { watermark: { foldedThrough: 1n } } });
    expect(looks()).toBeLessThanOrEqual(13);
  });

  test('FLD-8: ends when nobody waits any more', async () => {
    const { wait } = rig();
    const gone = new AbortController();
    const waiting = wait('never', 50_000, gone.signal);
    for (let i = 0; i < 50; i++) await null;
    gone.abort();
    expect(await waiting).toMatchObject({ seq: null, reached: false, mark: null });
  });
});
