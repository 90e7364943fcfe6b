import { deepEqual, equal } from 'node:assert/strict';
import type { ConformanceCase } from '@tidemark/libs-kernel/testing';
import type { PrefixRegistry, Registration } from '../prefix-registry.ts';
import type { PrefixRegistryHarness } from './harness.ts';

const REGISTERED: Registration = { outcome: 'registered' };

/** What a prefix registry promises. */
export const prefixCases: readonly ConformanceCase<PrefixRegistryHarness>[] = [
  {
    title: 'RLY-15: a free prefix is registered as asked',
    async run({ open }) {
      deepEqual(await (await open()).register('s', 'aaaa', 'uuid-A'), REGISTERED);
    },
  },
  {
    title: 'RLY-15: who asks for a taken prefix gets the first free one of its own candidates',
    kills: 'starts-at-the-second-candidate',
    async run({ open }) {
      const registry = await open();
      await registry.register('s', 'aaaa', 'uuid-A');
      deepEqual(await registry.register('s', 'aaaa', 'uuid-B'), reassigned('d7rm'));
      deepEqual(await registry.register('s', 'aaaa', 'uuid-C'), reassigned('amxn'));
    },
  },
  {
    title: 'RLY-15: a candidate that is taken itself is passed over',
    kills: 'tries-one-candidate',
    async run({ open }) {
      const registry = await open();
      await registry.register('s', 'aaaa', 'uuid-A');
      await registry.register('s', 'd7rm', 'uuid-X');
      await registry.register('s', 'w299', 'uuid-Y');
      deepEqual(await registry.register('s', 'aaaa', 'uuid-B'), reassigned('fgpb'));
    },
  },
  {
    title: 'RLY-15: a replica gets the same answer for ever',
    kills: 'claims-again-on-a-repeat',
    async run({ open }) {
      const registry = await open();
      await registry.register('s', 'aaaa', 'uuid-A');
      const first = await registry.register('s', 'aaaa', 'uuid-B');
      deepEqual(await registry.register('s', 'aaaa', 'uuid-A'), REGISTERED);
      deepEqual(await registry.register('s', 'aaaa', 'uuid-B'), first);
    },
  },
  {
    title: 'RLY-15: a replica that owns a prefix is told that one, even when it asks for a free one',
    kills: 'gives-a-second-prefix',
    async run({ open }) {
      const registry = await open();
      await registry.register('s', 'aaaa', 'uuid-A');
      deepEqual(await registry.register('s', 'bbbb', 'uuid-A'), reassigned('aaaa'));
    },
  },
  {
    title: 'RLY-15: streams know nothing of each other’s claims',
    kills: 'holds-one-space-for-all-streams',
    async run({ open }) {
      const registry = await open();
      await registry.register('s', 'aaaa', 'uuid-A');
      deepEqual(await registry.register('t', 'aaaa', 'uuid-B'), REGISTERED);
    },
  },
  {
    title: 'RLY-15: prefixes and uuids are opaque: empty, key-shaped, emoji, 4096 characters, other case',
    kills: 'cuts-a-long-uuid',
    async run({ open }) {
      const registry = await open();
      const odd = [
        '',
        'prefix#aaaa',
        'uuid#uuid-A',
        'λ🔑',
        'x'.repeat(4095) + '1',
        'x'.repeat(4095) + '2',
        'AAAA',
        'aaaa',
      ];
      for (const text of odd) deepEqual(await registry.register('s', text, text), REGISTERED, `uuid ${text}`);
    },
  },
  {
    title: 'RLY-15: of 8 replicas that ask for one prefix at once exactly one keeps it, and all 8 differ',
    kills: 'looks-before-it-claims',
    async run({ open }) {
      const answers = await race(open, (registry, i) => registry.register('s', 'aaaa', `uuid-${i}`));
      equal(answers.filter(({ outcome }) => outcome === 'registered').length, 1);
      equal(new Set(answers.map(prefixOf)).size, 8);
    },
  },
  {
    title: 'RLY-15: one replica that asks 8 times at once is registered 8 times',
    kills: 'loses-against-itself',
    async run({ open }) {
      const answers = await race(open, (registry) => registry.register('s', 'aaaa', 'uuid-A'));
      deepEqual(answers, Array(8).fill(REGISTERED));
    },
  },
  {
    title: 'RLY-18: a handle that opens later knows the claims made before',
    kills: 'forgets-on-open',
    async run({ open }) {
      await (await open()).register('s', 'aaaa', 'uuid-A');
      equal((await (await open()).register('s', 'aaaa', 'uuid-B')).outcome, 'reassigned');
    },
  },
];

function reassigned(newPrefix: string): Registration {
  return { outcome: 'reassigned', newPrefix };
}

function prefixOf(answer: Registration): string {
  return answer.outcome === 'registered' ? 'aaaa' : answer.newPrefix;
}

/** The call on 8 handles at once. */
async function race(
  open: PrefixRegistryHarness['open'],
  call: (registry: PrefixRegistry, i: number) => Promise<Registration>,
): Promise<Registration[]> {
  const registries: PrefixRegistry[] = [];
  for (let i = 0; i < 8; i++) registries.push(await open());
  return Promise.all(registries.map(call));
}
