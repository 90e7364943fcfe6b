import { deepEqual } from 'node:assert/strict';
import type { ConformanceCase } from '@tidemark/libs-kernel/testing';
import { I64_MAX, I64_MIN, type Op } from '@tidemark/libs-wire';
import { anOp } from '../an-op.ts';
import type { OpStoreHarness } from './harness.ts';

/** Ops come back exactly as they were appended. */
export const fidelityCases: readonly ConformanceCase<OpStoreHarness>[] = [
  {
    title: 'RLY-2: lamport and site keep all 64 bits',
    kills: 'rounds-integers',
    run: (harness) =>
      comesBack(
        harness,
        [I64_MIN, -1n, 0n, 2n ** 53n + 1n, 7_203_685_477_580_712_345n, I64_MAX].map((n) => ({ lamport: n, site: n })),
      ),
  },
  {
    title: 'RLY-2: a null value and an empty one stay different',
    kills: 'stores-an-empty-value-as-null',
    run: (harness) => comesBack(harness, [{ value: null }, { value: '' }]),
  },
  {
    title: 'RLY-2: unknown fields come back as they came, and none as none',
    kills: 'drops-unknown-fields',
    run: (harness) =>
      comesBack(harness, [
        { extra: '{}' },
        { extra: '{"key_id":"ed25519:AbC","sig":"mQ"}' },
        { extra: '{"big":9007199254740993,"deep":{"a":[1.0,null]},"sig":7}' },
      ]),
  },
  {
    title: 'RLY-2: any domain and any envelope version survives',
    kills: 'stores-every-domain-as-task',
    run: (harness) =>
      comesBack(harness, [
        { domain: 'message' },
        { domain: '' },
        { envelopeVersion: 999 },
        { envelopeVersion: 65_535 },
      ]),
  },
  {
    title:
      'RLY-2: text comes back unit for unit: quotes, control characters, decomposed letters, emoji, separators, empty',
    kills: 'normalises-text',
    run: (harness) =>
      comesBack(harness, [
        { opId: '' },
        { value: 'quote " backslash \\ slash / tab \t line \n return \r bell \u0007 del \u007f' },
        { value: 'e\u0301 is not \u00e9; \u{1f511} \u{10ffff} \ufeff \u2028' },
        { targetId: 'a\u001fb\u001ec', targetKind: 'no-such-kind', field: '', opType: 'no-such-type' },
        { author: '/srv/mira/../x', wallClock: '' },
        { opId: 'λ🔑 '.repeat(100) },
      ]),
  },
];

/** Appends an op per variation, each to a stream whose id is a path, and expects to read the same. */
async function comesBack({ open }: OpStoreHarness, variations: readonly Partial<Op>[]): Promise<void> {
  const store = await open();
  const ops = variations.map((fields, i) => anOp({ opId: `variation-${i}`, ...fields }));
  await store.append('nxsflow/manufakt-io', ops);
  const page = await store.read('nxsflow/manufakt-io', 0n, ops.length);
  deepEqual(
    page.ops.map(({ op }) => op),
    ops,
  );
}
