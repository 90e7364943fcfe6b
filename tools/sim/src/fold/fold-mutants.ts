import type { FeedBatch } from '@tidemark/libs-feed-contract';
import type { Revisions, StoredMark, Views, WatermarkState } from '@tidemark/libs-views-contract';
import { rewriting } from '../mutants/rewriting.ts';
import type { SimProcess } from '../scheduler/sim-process.ts';
import type { Wrap } from '../world.ts';
import type { WorkerParts } from './fold-host.ts';
import type { FoldMutant } from './fold-world.ts';

/** A fold that is wrong in one way, the case in which it must be caught, and what the judges say. */
export interface CaughtMutant extends FoldMutant {
  readonly caughtIn: string;
  readonly caught: RegExp;
}

type SaveMark = Views['saveMark'];

const saving =
  (how: (views: Views, ...save: Parameters<SaveMark>) => ReturnType<SaveMark>) =>
  (parts: WorkerParts): WorkerParts => {
    const { views } = parts;
    const saveMark: SaveMark = (...save) => how(views, ...save);
    return { ...parts, views: proxied(views, { saveMark }) };
  };

/** The port with some calls in another way. */
function proxied<Port extends object>(port: Port, instead: Partial<Port>): Port {
  return new Proxy(port, {
    get: (target, name) => {
      const member: unknown = Reflect.get(name in instead ? instead : target, name);
      return typeof member === 'function' && !(name in instead) ? (member.bind(target) as unknown) : member;
    },
  });
}

/** Everything up to the highest folded seq counts as folded. */
const highest = (views: Views, stream: string, epoch: number, state: WatermarkState, version: number, of: Revisions) =>
  views.saveMark(stream, epoch, { ...state, foldedThrough: topOf(state), ahead: [], holes: [] }, version, of);

const topOf = ({ ahead, foldedThrough }: WatermarkState) => ahead.at(-1)?.to ?? foldedThrough;

/** A refused save is sent again for whatever mark `found` finds. */
const insisting =
  (found: (views: Views, stream: string, epoch: number) => Promise<StoredMark | null>) =>
  async (views: Views, ...[stream, epoch, state, version, of]: Parameters<SaveMark>) => {
    if ((await views.saveMark(stream, epoch, state, version, of)) === 'saved') return 'saved';
    const other = await found(views, stream, epoch);
    return other === null ? 'conflict' : views.saveMark(stream, other.epoch, state, other.version, of);
  };

const anyShown = (views: Views, stream: string) => views.mark(stream);

async function sameEpoch(views: Views, stream: string, epoch: number): Promise<StoredMark | null> {
  const shown = await views.mark(stream);
  return shown?.epoch === epoch ? shown : null;
}

const PATIENCE_MS = 1000;

/** What was missing for a second will never come. */
function impatient(parts: WorkerParts, process: SimProcess): WorkerParts {
  const { opStore } = parts;
  const sinceMs = new Map<string, number>();
  const burnedThrough = async (stream: string, after: bigint): Promise<bigint> => {
    const proved = await opStore.burnedThrough(stream, after);
    const name = `${stream}/${after}`;
    const firstMs = sinceMs.get(name) ?? process.monotonic();
    sinceMs.set(name, firstMs);
    return proved === after && process.monotonic() - firstMs > PATIENCE_MS ? after + 1n : proved;
  };
  return { ...parts, opStore: proxied(opStore, { burnedThrough }) };
}

function hasty(parts: WorkerParts): WorkerParts {
  const { feed } = parts;
  const read = async (...wait: Parameters<typeof feed.read>): Promise<FeedBatch> => {
    const batch = await feed.read(...wait);
    await feed.checkpoint(batch.position);
    return batch;
  };
  return { ...parts, feed: proxied(feed, { read }) };
}

const orphaned: Wrap = rewriting(() => async (_send, { constructor: { name } }, pass) => {
  const answer = await pass();
  if (name !== 'DescribeStreamCommand') return answer;
  const description = answer['StreamDescription'] as { readonly Shards: readonly { ParentShardId?: string }[] };
  for (const shard of description.Shards) delete shard.ParentShardId;
  return answer;
});

const unfenced: Wrap = rewriting(() => (_send, { constructor: { name }, input }, pass) => {
  if (name === 'PutItemCommand' && input['Item'] !== undefined && 'leaseKey' in (input['Item'] as object)) {
    delete input['ConditionExpression'];
    delete input['ExpressionAttributeValues'];
  }
  return pass();
});

const soonOver: Wrap = rewriting(() => async (_send, { constructor: { name } }, pass) => {
  const answer = await pass();
  const isEmpty = name === 'GetRecordsCommand' && (answer['Records'] as readonly unknown[]).length === 0;
  if (isEmpty) delete answer['NextShardIterator'];
  return answer;
});

/** Whatever was lost with records that are gone, nobody looks for it: no census is wanted but the first. */
const forgetful: Wrap = rewriting(() => (_send, { constructor: { name }, input }, pass) => {
  const row = input['Item'] as Record<string, { S?: string }> | undefined;
  if (name === 'PutItemCommand' && row?.['leaseKey']?.S === 'control') {
    const control = JSON.parse(row['checkpoint']?.S ?? '{}') as object;
    input['Item'] = { ...row, checkpoint: { S: JSON.stringify({ ...control, census: 1 }) } };
  }
  return pass();
});

export const FOLD_MUTANTS: Readonly<Record<string, CaughtMutant>> = {
  'mark = max(seq)': { meddle: saving(highest), caughtIn: 'fold-add-era', caught: /FLD-1/ },
  'hole passed by time': { meddle: impatient, caughtIn: 'fold-add-era', caught: /FLD-1: .* is stored below a mark/ },
  'checkpoint before effect': { meddle: hasty, caughtIn: 'fold-storm', caught: /FLD-9/ },
  'child before parent': { wrapStreams: orphaned, caughtIn: 'fold-storm', caught: /FLD-4: .* before its parent/ },
  'lease without fencing': {
    wrapTables: unfenced,
    caughtIn: 'fold-storm',
    caught: /FLD-5: the (checkpoint|lease epoch)/,
  },
  'epoch unchecked': { meddle: saving(insisting(anyShown)), caughtIn: 'fold-upgrade', caught: /FLD-1|FLD-5/ },
  'range union lost': { meddle: saving(insisting(sameEpoch)), caughtIn: 'fold-storm', caught: /FLD-5: the mark/ },
  'empty page = end': { wrapStreams: soonOver, caughtIn: 'fold-storm', caught: /FLD-4: .* before its end/ },
  'trimmed = skip': { wrapTables: forgetful, caughtIn: 'fold-outage', caught: /wedged: .* is never folded/ },
};
