import {
  FIRST_EPOCH,
  type Hole,
  type Revisions,
  type SeqRange,
  type StoredMark,
  type Views,
} from '@tidemark/libs-views-contract';
import { quoteJson } from '@tidemark/libs-wire';
import { emptyWatermark } from './watermark.ts';

/** The JSON text of a stream's mark, as an HTTP answer. Of a stream without one nothing is folded: seq 0, in the first epoch. */
export async function readWatermark(views: Views, stream: string): Promise<string> {
  const mark = await views.mark(stream);
  const build = await views.build(stream);
  const { epoch, watermark, revisions } = mark ?? {
    epoch: FIRST_EPOCH,
    watermark: emptyWatermark(),
    revisions: new Map(),
  };
  const { foldedThrough, ahead, holes, skipped, floor } = watermark;
  return (
    `{"stream":${quoteJson(stream)},"epoch":${epoch},"folded_through":${foldedThrough},` +
    `"ahead":${rangesText(ahead)},"holes":${holesText(holes)},"skipped":${rangesText(skipped)},"floor":${floor},` +
    `"revisions":${revisionsText(revisions)},"build":${build === null ? 'null' : buildText(build)}}`
  );
}

export function holesText(holes: readonly Hole[]): string {
  const texts = holes.map(({ from, to, firstSeenMs }) => `{"from":${from},"to":${to},"first_seen_ms":${firstSeenMs}}`);
  return `[${texts.join()}]`;
}

export function revisionsText(revisions: Revisions): string {
  return `{${[...revisions].map(([domain, revision]) => `${quoteJson(domain)}:${revision}`).join()}}`;
}

function rangesText(ranges: readonly SeqRange[]): string {
  return `[${ranges.map(({ from, to }) => `[${from},${to}]`).join()}]`;
}

/** Of an epoch that is built beside the shown one. */
export function buildText({ epoch, watermark }: StoredMark): string {
  return `{"epoch":${epoch},"folded_through":${watermark.foldedThrough}}`;
}
