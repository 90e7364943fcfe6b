import type { StoredMark, WatermarkState } from '@tidemark/libs-views-contract';
import { MemoryViews } from '@tidemark/libs-views-contract/testing';
import { MarkSaver } from './mark-saver.ts';
import { NO_METRICS } from './report.ts';
import { emptyWatermark } from './watermark.ts';

const STREAM = '0.events';
const NONE: StoredMark = { watermark: emptyWatermark(), epoch: 1, version: 0, revisions: new Map() };

function through(foldedThrough: bigint, ahead: WatermarkState['ahead'] = []): WatermarkState {
  const holes = ahead.length > 0 ? [{ from: foldedThrough + 1n, to: ahead[0]!.from - 1n, firstSeenMs: 1 }] : [];
  return { ...emptyWatermark(), foldedThrough, ahead, holes };
}

function aSaver(views = new MemoryViews()) {
  const told: StoredMark[] = [];
  const saved = (_: string, mark: StoredMark) => void told.push(mark);
  return { views, told, saver: new MarkSaver({ views, metrics: NO_METRICS, saved }) };
}

describe('saving a mark', () => {
  it('covers the folded range and tells of it', async () => {
    const { views, told, saver } = aSaver();
    const mark = await saver.save(STREAM, NONE, through(5n));
    expect(mark).toEqual({ watermark: through(5n), epoch: 1, version: 1, revisions: new Map() });
    expect(await views.mark(STREAM)).toEqual(mark);
    expect(told).toEqual([mark]);
  });

  // kills: mark-saver.ts: next = union(next, stored.watermark); => next = watermark;
  it('FLD-5: joins what another worker saved meanwhile', async () => {
    const { views, saver } = aSaver();
    await views.saveMark(STREAM, 1, through(2n, [{ from: 6n, to: 8n }]), 0, new Map());
    expect(await saver.save(STREAM, NONE, through(5n))).toMatchObject({
      watermark: { foldedThrough: 8n, ahead: [], holes: [] },
      version: 2,
    });
  });

  it('FLD-5: leaves a stored mark that knows the range already, and never moves it back', async () => {
    const { views, told, saver } = aSaver();
    await views.saveMark(STREAM, 1, through(9n), 0, new Map());
    const stored = await views.mark(STREAM);
    expect(await saver.save(STREAM, NONE, through(5n))).toEqual(stored);
    expect(await views.mark(STREAM)).toEqual(stored);
    expect(told).toEqual([]);
  });

  // kills: mark-saver.ts: if (shown?.epoch === epoch) return shown; => if (shown) return shown;
  it('FLD-7: does not cover in another epoch what was folded into this one', async () => {
    const { views, saver } = aSaver();
    await views.startBuild(STREAM, new Map());
    await views.switchTo(STREAM, 2);
    const stored = await views.mark(STREAM);
    expect(await saver.save(STREAM, NONE, through(5n))).toBeNull();
    expect(await views.mark(STREAM)).toEqual(stored);
  });

  it('FLD-5: does not bring back a mark that was taken away', async () => {
    const { views, saver } = aSaver();
    const old: StoredMark = { watermark: through(5n), epoch: 1, version: 7, revisions: new Map() };
    expect(await saver.save(STREAM, old, through(9n))).toBeNull();
    expect(await views.mark(STREAM)).toBeNull();
    await views.saveMark(STREAM, 1, through(1n), 0, new Map());
    const stored = await views.mark(STREAM);
    expect(await saver.save(STREAM, old, through(9n))).toBeNull();
    expect(await views.mark(STREAM)).toEqual(stored);
  });

  it('gives up after many lost races in a row, as unavailable', async () => {
    class RacingViews extends MemoryViews {
      override async saveMark(stream: string, epoch: number, _: WatermarkState, expectedVersion: number) {
        await super.saveMark(stream, epoch, through(1n), expectedVersion, new Map());
        return 'conflict' as const;
      }
    }
    const { saver } = aSaver(new RacingViews());
    await expect(saver.save(STREAM, NONE, through(5n))).rejects.toMatchObject({ code: 'unavailable' });
  });
});
