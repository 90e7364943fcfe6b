import { MemoryViews } from '@tidemark/libs-views-contract/testing';
import { readWatermark } from './mark-text.ts';
import { emptyWatermark } from './watermark.ts';

const STREAM = '0.events';

describe('the watermark', () => {
  it('R11, FLD-8: is told whole, with seqs beyond what a double holds', async () => {
    const views = new MemoryViews();
    const top = 2n ** 63n - 1n;
    const watermark = {
      foldedThrough: 3n,
      ahead: [
        { from: 5n, to: 6n },
        { from: top, to: top },
      ],
      holes: [
        { from: 4n, to: 4n, firstSeenMs: 1_790_000_000_123 },
        { from: 7n, to: top - 1n, firstSeenMs: 5 },
      ],
      skipped: [{ from: 1n, to: 1n }],
      floor: 2n,
    };
    await views.saveMark(STREAM, 1, watermark, 0, new Map([['event', 0]]));
    expect(await readWatermark(views, STREAM)).toBe(
      '{"stream":"0.events","epoch":1,"folded_through":3,"ahead":[[5,6],[9223372036854775807,9223372036854775807]],' +
        '"holes":[{"from":4,"to":4,"first_seen_ms":1790000000123},{"from":7,"to":9223372036854775806,"first_seen_ms":5}],' +
        '"skipped":[[1,1]],"floor":2,"revisions":{"event":0},"build":null}',
    );
  });

  it('FLD-7: tells of the build beside what is shown', async () => {
    const views = new MemoryViews();
    await views.saveMark(STREAM, 1, { ...emptyWatermark(), foldedThrough: 9n }, 0, new Map([['event', 0]]));
    await views.startBuild(STREAM, new Map([['event', 1]]));
    expect(JSON.parse(await readWatermark(views, STREAM))).toMatchObject({
      epoch: 1,
      folded_through: 9,
      revisions: { event: 0 },
      build: { epoch: 2, folded_through: 0 },
    });
  });

  it('of a stream without a mark says that nothing is folded', async () => {
    expect(await readWatermark(new MemoryViews(), STREAM)).toBe(
      '{"stream":"0.events","epoch":1,"folded_through":0,"ahead":[],"holes":[],"skipped":[],"floor":0,"revisions":{},"build":null}',
    );
  });
});
