import type { ReadPage, SeenOp } from '@tidemark/libs-op-store-contract';
import { HoldingOpStore, Rig, anEvent, settle } from './testing/rig.ts';

const A = '0.a';
const OPS = 1_000_000n;

/** A log of a million ops with a burned seq below each, which keeps none of them. */
class HoledOpStore extends HoldingOpStore {
  override async read(_: string, after: bigint, limit: number): Promise<ReadPage> {
    if (this.holdsHoles) return { ops: [], next: after };
    const ops = opsAbove(after, limit);
    return { ops, next: ops.at(-1)?.seq ?? after };
  }

  override async readAhead(_: string, after: bigint, limit: number): Promise<readonly SeenOp[]> {
    return opsAbove(after, limit);
  }

  override async burnedThrough(_: string, after: bigint): Promise<bigint> {
    return !this.holdsHoles && after % 2n === 0n && after < 2n * OPS ? after + 1n : after;
  }

  override async head(): Promise<bigint> {
    return 2n * OPS;
  }
}

function opsAbove(after: bigint, limit: number) {
  const ops = [];
  for (let seq = after + 2n - (after % 2n); seq <= 2n * OPS && ops.length < limit; seq += 2n)
    ops.push({ seq, op: anEvent(`e${seq % 10n}`, seq) });
  return ops;
}

test('OPS-4, B11: a million holes keep a mark and its worker within their bounds, open and closed', async () => {
  const rig = new Rig();
  const opStore = new HoledOpStore();
  opStore.holdsHoles = true;
  rig.changes.announce(A, 2n * OPS);
  const worker = rig.worker({ opStore, pageOpsMax: 500, tracer: { span: (_, work) => work() } });
  for (let tick = 0; tick < 50; tick++) await worker.tick();
  const { watermark } = (await rig.views.mark(A))!;
  expect([watermark.ahead.length, watermark.holes.length]).toEqual([1000, 1000]);
  expect(worker.status().lagOps).toBe(2n * OPS - 1000n);
  opStore.holdsHoles = false;
  await settle(worker, 100_000);
  expect(await rig.foldedThrough(A)).toBe(2n * OPS);
  expect(rig.seqs).toEqual({ burned: Number(OPS) });
  expect([...(await rig.bodies(A)).values()].map(({ version }) => version.lamport)).toEqual(
    Array.from({ length: 5 }, (_, i) => 2n * OPS - 10n + BigInt(2 * i === 0 ? 10 : 2 * i)),
  );
}, 600_000);
