import { SeededRandom } from '@tidemark/libs-kernel/testing';
import { MemoryViews } from '@tidemark/libs-views-contract/testing';
import type { FoldWorker } from './fold-worker.ts';
import { Crash, crashing } from './testing/crash.ts';
import { Rig, anEvent, settle } from './testing/rig.ts';

const STREAMS = ['0.a', '0.b', '0.c'];
const OPS = 7;

/** Events that compete for few documents, some that no reducer knows, some that cannot be folded. */
async function fill(rig: Rig, random: SeededRandom): Promise<void> {
  for (const stream of STREAMS) {
    for (let n = 1; n <= OPS; n++) {
      const id = `e${Math.floor(random.fraction() * 4)}`;
      const lamport = Math.floor(random.fraction() * 6);
      const shape = random.fraction();
      const fields = shape < 0.1 ? { value: 'no json' } : shape < 0.2 ? { domain: 'unknown' } : {};
      await rig.append(stream, anEvent(id, lamport, { opId: String(n), value: `{"n":${n}}`, ...fields }));
    }
  }
}

/** Doorbells in any order, repeated, late and missing; only the last one of each stream is sure to ring, at any place. */
async function ringAnyhow(rig: Rig, random: SeededRandom): Promise<void> {
  const rings = STREAMS.flatMap((stream) => Array.from({ length: OPS }, (_, i) => ({ stream, head: BigInt(i + 1) })));
  const heard = rings.flatMap((ring) => {
    const times = Math.floor(random.fraction() * 3);
    return Array.from({ length: ring.head === BigInt(OPS) ? times + 1 : times }, () => ({
      ring,
      place: random.fraction(),
    }));
  });
  heard.sort((a, b) => a.place - b.place);
  for (const { ring } of heard) rig.changes.announce(ring.stream, ring.head);
}

/** A worker whose process ends at a call. After every call the marks are true, and so are the checkpoints. */
function mortal(rig: Rig, crash: Crash): FoldWorker {
  const seen = async () => {
    await rig.assertMarksAreTrue();
    for (const { stream, head } of rig.changes.changes.slice(0, rig.changes.checkpoint)) {
      if ((await rig.foldedThrough(stream)) < head) throw new Error(`FLD-9: checkpoint above ${head} of ${stream}`);
    }
  };
  return rig.worker({
    feed: crashing(rig.feed(), crash, seen),
    opStore: crashing(rig.opStore, crash, seen),
    views: crashing(rig.views, crash, seen),
  });
}

async function tickUntilTheEnd(worker: FoldWorker, crash: Crash): Promise<void> {
  for (let tick = 0; tick < 100 && !crash.over; tick++) {
    const { changes } = await worker.tick();
    if (changes === 0 && worker.status().pending === 0) return;
  }
}

async function expectWholeFold(rig: Rig): Promise<void> {
  for (const stream of STREAMS) {
    expect(await rig.foldedThrough(stream)).toBe(BigInt(OPS));
    expect(await rig.bodies(stream)).toEqual(await rig.fold(stream));
  }
}

describe('FLD-1: after a crash at any call, and with doorbells in any order, repeated and missing', () => {
  it.each([1, 2, 3])('the views equal a fold of the whole log, and no mark ever lied (seed %i)', async (seed) => {
    for (const when of ['before', 'after'] as const) {
      for (let at = 1, isCrash = true; isCrash; at++) {
        const random = new SeededRandom(seed);
        const rig = new Rig();
        await fill(rig, random);
        await ringAnyhow(rig, random);
        const crash = new Crash(at, when);
        await tickUntilTheEnd(mortal(rig, crash), crash);
        isCrash = crash.over;
        await settle(mortal(rig, new Crash()));
        await expectWholeFold(rig);
      }
    }
  });

  it('a crash in each of two lives changes nothing', async () => {
    for (let at = 1; at <= 60; at++) {
      const random = new SeededRandom(at);
      const rig = new Rig();
      await fill(rig, random);
      await ringAnyhow(rig, random);
      for (const crash of [new Crash(at, 'after'), new Crash(61 - at, 'before')]) {
        await tickUntilTheEnd(mortal(rig, crash), crash);
      }
      await settle(mortal(rig, new Crash()));
      await expectWholeFold(rig);
    }
  });

  it('ops that arrive between the ticks are folded as well', async () => {
    for (let seed = 1; seed <= 30; seed++) {
      const random = new SeededRandom(seed);
      const rig = new Rig();
      let worker = mortal(rig, new Crash());
      for (let n = 1; n <= 40; n++) {
        const stream = STREAMS[Math.floor(random.fraction() * 3)]!;
        await rig.append(stream, anEvent(`e${n % 5}`, Math.floor(random.fraction() * 9), { opId: String(n) }));
        if (random.fraction() < 0.6) await rig.ring(stream);
        if (random.fraction() < 0.3) await worker.tick();
        if (random.fraction() < 0.1) worker = mortal(rig, new Crash());
      }
      for (const stream of STREAMS) await rig.ring(stream);
      await settle(worker);
      for (const stream of STREAMS) expect(await rig.bodies(stream)).toEqual(await rig.fold(stream));
    }
  });
});

describe('FLD-5: two workers on the same streams', () => {
  it('agree on true marks and a whole fold, however their calls interleave', async () => {
    for (let seed = 1; seed <= 40; seed++) {
      const random = new SeededRandom(seed);
      const rig = new Rig();
      await fill(rig, random);
      await ringAnyhow(rig, random);
      const workers = [dawdling(rig, random), dawdling(rig, random)];
      await Promise.all(workers.map((worker) => settle(worker)));
      await expectWholeFold(rig);
    }
  });

  it('one that was paused between its rows and its mark neither moves the mark back nor makes it lie', async () => {
    const rig = new Rig();
    await fill(rig, new SeededRandom(1));
    for (const stream of STREAMS) await rig.ring(stream);
    let resume = () => {};
    const paused = new Promise<void>((resolve) => (resume = resolve));
    class PausedViews extends MemoryViews {
      override async saveMark(...args: Parameters<MemoryViews['saveMark']>) {
        const [, , { foldedThrough }] = args;
        if (foldedThrough > 0n) await paused;
        return super.saveMark(...args);
      }
    }
    const views = new PausedViews(rig.viewsStore);
    const slow = rig.worker({ views });
    const slowTick = slow.tick();
    await settle(mortal(rig, new Crash()));
    await expectWholeFold(rig);
    resume();
    await slowTick;
    await settle(slow);
    await rig.assertMarksAreTrue();
    await expectWholeFold(rig);
    expect(rig.counted.conflicts).toBeGreaterThan(0);
  });
});

/** A worker whose calls take from none to five turns of the event loop, before and after their effect. */
function dawdling(rig: Rig, random: SeededRandom): FoldWorker {
  const dawdle = async () => {
    for (let i = Math.floor(random.fraction() * 6); i > 0; i--) await null;
  };
  const slowed = <Port extends object>(port: Port): Port =>
    new Proxy(port, {
      get(target, name) {
        const member = Reflect.get(target, name) as (...args: unknown[]) => Promise<unknown>;
        return async (...args: unknown[]) => {
          await dawdle();
          const answer = await Reflect.apply(member, target, args);
          await dawdle();
          await rig.assertMarksAreTrue();
          return answer;
        };
      },
    });
  return rig.worker({
    feed: slowed(rig.feed()),
    opStore: slowed(rig.opStore),
    views: slowed(rig.views),
  });
}
