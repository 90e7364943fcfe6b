import { Fault } from '@tidemark/libs-kernel';
import { ManualTime } from '@tidemark/libs-kernel/testing';
import type { StoredMark } from '@tidemark/libs-views-contract';
import { MemoryViews, MemoryViewsStore } from '@tidemark/libs-views-contract/testing';
import { MarkWatch } from './mark-watch.ts';

const STREAM = '0.events';

class CountedViews extends MemoryViews {
  looks = 0;
  isDown = false;

  override async mark(stream: string): Promise<StoredMark | null> {
    this.looks++;
    if (this.isDown) throw new Fault('unavailable', 'down');
    return super.mark(stream);
  }
}

function aWatch() {
  const time = new ManualTime();
  const views = new CountedViews(new MemoryViewsStore());
  const watch = new MarkWatch({ views, sleeper: time });
  /** Saves the mark as another process would: the watch is not told. */
  const save = async (foldedThrough: bigint) => {
    const version = (await views.mark(STREAM))?.version ?? 0;
    await views.saveMark(
      STREAM,
      1,
      { foldedThrough, ahead: [], holes: [], skipped: [], floor: 0n },
      version,
      new Map(),
    );
    return (await views.mark(STREAM))!;
  };
  return { time, views, watch, save };
}

/** Lets everything run that does not wait for time. */
async function quiet(): Promise<void> {
  for (let i = 0; i < 50; i++) await null;
}

describe('waiting for a mark', () => {
  it('FLD-8: answers at once when the mark is there already', async () => {
    const { watch, save } = aWatch();
    const mark = await save(5n);
    expect(await watch.waitFor(STREAM, 5n, 1000)).toEqual({ reached: true, mark });
    expect(await watch.waitFor('unknown', 0n, 1000)).toEqual({ reached: true, mark: null });
  });

  it('FLD-8: answers without waiting when asked to, with the mark', async () => {
    const { watch, save } = aWatch();
    const mark = await save(5n);
    expect(await watch.waitFor(STREAM, 6n, 0)).toEqual({ reached: false, mark });
    expect(await watch.waitFor('unknown', 1n, 0)).toEqual({ reached: false, mark: null });
  });

  it('FLD-8: is woken by a save of this process without any time passing', async () => {
    const { watch, save } = aWatch();
    const waiting = watch.waitFor(STREAM, 6n, 1000);
    await quiet();
    watch.saved(STREAM, await save(5n));
    const mark = await save(6n);
    watch.saved(STREAM, mark);
    expect(await waiting).toEqual({ reached: true, mark });
  });

  it('FLD-8: is woken by a poll after a save of another process', async () => {
    const { time, watch, save } = aWatch();
    const waiting = watch.waitFor(STREAM, 6n, 1000);
    await quiet();
    const mark = await save(7n);
    time.advance(100);
    expect(await waiting).toEqual({ reached: true, mark });
  });

  it('FLD-8: ends with the mark as it is when time is up', async () => {
    const { time, watch, save } = aWatch();
    const waiting = watch.waitFor(STREAM, 6n, 1000);
    await quiet();
    const mark = await save(5n);
    time.advance(1000);
    expect(await waiting).toEqual({ reached: false, mark });
  });

  it('ends when its caller leaves', async () => {
    const { watch } = aWatch();
    const leave = new AbortController();
    const waiting = watch.waitFor(STREAM, 6n, 1000, leave.signal);
    await quiet();
    leave.abort();
    expect(await waiting).toEqual({ reached: false, mark: null });
  });

  it('OPS-4: many waits for one stream share one poll, which ends with the last of them', async () => {
    const { time, views, watch } = aWatch();
    const waits = Array.from({ length: 10 }, () => watch.waitFor(STREAM, 6n, 1000));
    await quiet();
    expect(views.looks).toBe(10);
    time.advance(100);
    await quiet();
    expect(views.looks).toBe(11);
    time.advance(900);
    await Promise.all(waits);
    await quiet();
    expect(time.sleepers).toBe(0);
  });

  it('outlives a poll that failed', async () => {
    const { time, views, watch, save } = aWatch();
    const waiting = watch.waitFor(STREAM, 6n, 1000);
    await quiet();
    views.isDown = true;
    time.advance(100);
    await quiet();
    views.isDown = false;
    await save(6n);
    time.advance(100);
    expect(await waiting).toMatchObject({ reached: true });
  });

  it('fails when the views do not answer at its end', async () => {
    const { time, views, watch } = aWatch();
    const waiting = watch.waitFor(STREAM, 6n, 1000);
    await quiet();
    views.isDown = true;
    time.advance(1000);
    await expect(waiting).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('OPS-4: is overloaded while too many wait, and free again when they left', async () => {
    const { time, watch } = aWatch();
    const waits = Array.from({ length: 1000 }, (_, i) => watch.waitFor(`s${i}`, 1n, 1000));
    await expect(watch.waitFor(STREAM, 1n, 1000)).rejects.toMatchObject({ code: 'overloaded', retryAfterMs: 1000 });
    await quiet();
    time.advance(1000);
    await Promise.all(waits);
    expect(await watch.waitFor(STREAM, 1n, 0)).toMatchObject({ reached: false });
  });
});
