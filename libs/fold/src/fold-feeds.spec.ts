import { SeededRandom } from '@tidemark/libs-kernel/testing';
import type { FoldWorker } from './fold-worker.ts';
import { Crash, crashing } from './testing/crash.ts';
import { Rig, anEvent, settle } from './testing/rig.ts';

const STREAMS = ['0.a', '0.b'];
const SEQS = 14;

/** What is at a seq: an op that is shown or on its way, one that is poison or that no reducer knows, or nothing for ever. */
type Place = 'op' | 'on_its_way' | 'poison' | 'unreadable' | 'unknown' | 'burned';

const PLACES: readonly Place[] = [
  'op',
  'op',
  'op',
  'op',
  'on_its_way',
  'on_its_way',
  'poison',
  'unreadable',
  'unknown',
  'burned',
];

/** Streams with all of that, in any order; the last seqs may be burned as well. */
class World {
  readonly rig = new Rig();
  readonly random: SeededRandom;
  readonly poison = new Map<string, bigint[]>();
  /** Ops of which a chance shows one at a time. */
  readonly #onTheirWay: { stream: string; seq: bigint }[] = [];

  constructor(seed: number) {
    this.random = new SeededRandom(seed);
    for (const stream of STREAMS) {
      this.rig.opStore.heads.set(stream, BigInt(SEQS));
      this.rig.opStore.unshown.set(stream, new Set());
      for (let seq = 1; seq <= SEQS; seq++) this.#fill(stream, seq);
    }
  }

  /** Doorbells for anything that was given, repeated, late and missing. */
  ringAnyhow(): void {
    for (const stream of STREAMS)
      if (this.chance(0.4)) this.rig.changes.announce(stream, BigInt(1 + Math.floor(this.random.fraction() * SEQS)));
  }

  showOne(): void {
    const [one] = this.#onTheirWay.splice(Math.floor(this.random.fraction() * this.#onTheirWay.length), 1);
    if (one) this.rig.opStore.unshown.get(one.stream)!.delete(one.seq);
  }

  showAll(): void {
    while (this.#onTheirWay.length > 0) this.showOne();
    for (const stream of STREAMS) this.rig.changes.announce(stream, BigInt(SEQS));
  }

  chance(share: number): boolean {
    return this.random.fraction() < share;
  }

  /** A worker, whose calls end at a crash, and after each of which every mark is true. */
  worker(crash = new Crash()): FoldWorker {
    const { rig } = this;
    const seen = () => rig.assertMarksAreTrue();
    return rig.worker({
      feed: crashing(rig.feed(), crash, seen),
      opStore: crashing(rig.opStore, crash, seen),
      views: crashing(rig.views, crash, seen),
      pageOpsMax: 3,
      rangesMax: 3,
      sweepMs: 2000,
    });
  }

  async expectWholeFold(): Promise<void> {
    const { rig, poison } = this;
    for (const stream of STREAMS) {
      expect((await rig.views.mark(stream))?.watermark).toMatchObject({
        foldedThrough: BigInt(SEQS),
        ahead: [],
        holes: [],
        skipped: [],
      });
      expect(await rig.bodies(stream)).toEqual(await rig.fold(stream));
      const parked = await rig.views.parked(stream, 1, 0n, 100);
      expect(parked.map(({ seq }) => seq)).toEqual(poison.get(stream) ?? []);
    }
  }

  #fill(stream: string, at: number): void {
    const place = PLACES[Math.floor(this.random.fraction() * PLACES.length)]!;
    if (place === 'burned') return;
    const seq = BigInt(at);
    const fields = {
      op: {},
      on_its_way: {},
      poison: { value: 'no json' },
      unreadable: { extra: '{"cut' },
      unknown: { domain: 'other' },
    }[place];
    const [id, lamport] = [`e${Math.floor(this.random.fraction() * 4)}`, Math.floor(this.random.fraction() * 5)];
    this.rig.opStore.plant(stream, seq, anEvent(id, lamport, { opId: String(seq), value: `{"n":${seq}}`, ...fields }));
    if (place === 'poison' || place === 'unreadable')
      this.poison.set(stream, [...(this.poison.get(stream) ?? []), seq]);
    if (place !== 'on_its_way') return;
    this.rig.opStore.unshown.get(stream)!.add(seq);
    this.#onTheirWay.push({ stream, seq });
  }
}

describe('FLD-1: over logs with ops on their way, burned, poison and unknown, and doorbells anyhow', () => {
  it('two workers, either of which may crash at any call, never let a mark lie, and end with a whole fold', async () => {
    for (let seed = 1; seed <= 60; seed++) {
      const world = new World(seed);
      let crashes = [new Crash(), new Crash()];
      let workers = crashes.map((crash) => world.worker(crash));
      for (let step = 0; step < 25; step++) {
        world.ringAnyhow();
        if (world.chance(0.4)) world.showOne();
        if (world.chance(0.2)) {
          const at = 1 + Math.floor(world.random.fraction() * 30);
          crashes = crashes.map((crash, i) =>
            crash.over || i === 0 ? new Crash(at + i, step % 2 ? 'after' : 'before') : crash,
          );
          workers = crashes.map((crash) => world.worker(crash));
        }
        await Promise.all(workers.map((worker) => worker.tick()));
      }
      world.showAll();
      const last = world.worker();
      await settle(last, 400);
      await world.expectWholeFold();
    }
  });

  it('a worker that crashes at its n-th call leaves a mark that the next one goes on from', async () => {
    for (let seed = 1; seed <= 3; seed++) {
      for (let at = 1, isCrash = true; isCrash; at++) {
        const world = new World(seed);
        world.showOne();
        for (let i = 0; i < 4; i++) world.ringAnyhow();
        const crash = new Crash(at, at % 2 === 0 ? 'before' : 'after');
        const mortal = world.worker(crash);
        for (let tick = 0; tick < 12 && !crash.over; tick++) await mortal.tick();
        isCrash = crash.over && at < 120;
        world.showAll();
        await settle(world.worker(), 400);
        await world.expectWholeFold();
      }
    }
  });
});
