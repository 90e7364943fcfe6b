import type { Claim } from '@tidemark/libs-dedupe-contract';
import { MemoryDedupeStore, MemoryDeduplicator } from '@tidemark/libs-dedupe-contract/testing';
import { SeededRandom } from '@tidemark/libs-kernel/testing';
import { SpecFolder, keyOf, statuses } from './spec-store.ts';

const STEPS = 250;
const LEASE_MS = 30_000;

let folder: SpecFolder;
beforeEach(async () => (folder = await SpecFolder.make()));
afterEach(() => folder.end());

test.each([1, 2, 3, 4, 5, 6, 7, 8])(
  'DDP-1: any course of calls is answered as by the model (seed %i)',
  async (seed) => {
    const random = new SeededRandom(seed);
    const pick = (n: number) => Math.floor(random.fraction() * n);
    // Half of the courses run where absence is known, half where everything is read.
    const real = await (seed % 2 === 0 ? folder.open() : folder.reopen());
    const model = new MemoryDeduplicator(new MemoryDedupeStore({ clock: folder.time, random: new SeededRandom(seed) }));
    const claims: { readonly real: Claim; readonly model: Claim }[] = [];
    const seen = new Set<string>();

    const steps = [reserve, reserve, commit, release, advance];
    for (let step = 0; step < STEPS; step++) await steps[pick(steps.length)]!();
    expect(seen).toEqual(new Set(['claimed', 'duplicate', 'in_flight']));

    async function reserve(): Promise<void> {
      const keys = Array.from({ length: 1 + pick(4) }, () => keyOf(`${pick(12)}`));
      const [answered, expected] = [await real.reserve(keys, LEASE_MS), await model.reserve(keys, LEASE_MS)];
      expect(statuses(answered)).toEqual(statuses(expected));
      answered.forEach((claim, i) => claims.push({ real: claim, model: expected[i]! }));
      for (const status of statuses(answered)) seen.add(status);
    }

    /** Of claims of any age and status. */
    function some(): { readonly real: Claim; readonly model: Claim }[] {
      return claims.length === 0 ? [] : Array.from({ length: pick(3) }, () => claims[pick(claims.length)]!);
    }

    async function commit(): Promise<void> {
      const [picked, retentionMs] = [some(), pick(4) * LEASE_MS];
      await real.commit(
        picked.map((claim) => claim.real),
        retentionMs,
      );
      await model.commit(
        picked.map((claim) => claim.model),
        retentionMs,
      );
    }

    async function release(): Promise<void> {
      const picked = some();
      await real.release(picked.map((claim) => claim.real));
      await model.release(picked.map((claim) => claim.model));
    }

    async function advance(): Promise<void> {
      folder.time.advance(pick(LEASE_MS));
    }
  },
);
