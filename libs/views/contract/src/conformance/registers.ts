import { deepEqual, equal } from 'node:assert/strict';
import type { ConformanceCase } from '@tidemark/libs-kernel/testing';
import {
  EPOCH,
  STREAM,
  type ViewsHarness,
  change,
  memberOf,
  show,
  valueOf,
  version,
  winsInEveryOrder,
} from './harness.ts';

const LAMPORT_MAX = 2n ** 62n;
const INT64_MIN = -(2n ** 63n);
const INT64_MAX = 2n ** 63n - 1n;

/** Which write of a register stays, whatever the order and the number of its arrivals. */
export const registerCases: readonly ConformanceCase<ViewsHarness>[] = [
  {
    title: 'FLD-1: the highest rank wins, before any lamport, in every order of arrival',
    kills: 'ignoresRank',
    async run({ open }) {
      const versions = [version({ rank: 0n, lamport: 3n }), version({ rank: 2n, lamport: 1n }), version({ rank: 1n })];
      await winsInEveryOrder(await open(), 'higher', versions, 1);
    },
  },
  {
    title: 'FLD-1: of equal ranks the highest lamport wins, before any site, in every order of arrival',
    kills: 'siteBeforeLamport',
    async run({ open }) {
      const versions = [
        version({ lamport: 1n, site: 3n }),
        version({ lamport: 2n }),
        version({ lamport: 3n, site: 1n }),
      ];
      await winsInEveryOrder(await open(), 'higher', versions, 2);
    },
  },
  {
    title: 'FLD-1: of equal lamports the highest site wins, negative ones below, in every order of arrival',
    kills: 'ignoresSite',
    async run({ open }) {
      const versions = [
        version({ site: 3n, seq: 3n }),
        version({ site: -10n, seq: 1n }),
        version({ site: -2n, seq: 2n }),
      ];
      await winsInEveryOrder(await open(), 'higher', versions, 0);
    },
  },
  {
    title: 'FLD-1: on a full tie the lower seq stays, in every order of arrival',
    kills: 'laterSeqWinsTies',
    async run({ open }) {
      const versions = [3n, 1n, 2n, 4n].map((seq) => version({ seq }));
      await winsInEveryOrder(await open(), 'higher', versions, 1);
    },
  },
  {
    title: 'FLD-1: under the rule `lower` the first writer wins by rank, lamport and site, in every order of arrival',
    kills: 'takesLowerForHigher',
    async run({ open }) {
      const versions = [
        version({ rank: 1n, lamport: 1n, site: 1n, seq: 1n }),
        version({ rank: 0n, lamport: 2n, site: 1n, seq: 2n }),
        version({ rank: 0n, lamport: 1n, site: 2n, seq: 3n }),
        version({ rank: 0n, lamport: 1n, site: 1n, seq: 4n }),
      ];
      await winsInEveryOrder(await open(), 'lower', versions, 3);
    },
  },
  {
    title: 'FLD-1: on a full tie the lower seq stays under the rule `lower`, too, in every order of arrival',
    kills: 'laterSeqWinsFirst',
    async run({ open }) {
      const versions = [3n, 1n, 2n].map((seq) => version({ seq }));
      await winsInEveryOrder(await open(), 'lower', versions, 1);
    },
  },
  {
    title: 'FLD-1: versions are numbers, not texts: lamport 10 beats lamport 9',
    kills: 'comparesDigits',
    async run({ open }) {
      const versions = [9n, 10n].map((lamport) => version({ lamport }));
      await winsInEveryOrder(await open(), 'higher', versions, 1);
    },
  },
  {
    title: 'FLD-1: a negative lamport is below every other, down to -2^63',
    kills: 'comparesMagnitudes',
    async run({ open }) {
      const versions = [INT64_MIN, -5n, 3n, 0n].map((lamport) => version({ lamport }));
      await winsInEveryOrder(await open(), 'higher', versions, 2);
    },
  },
  {
    title:
      'FLD-1: lamports of 2^62 that differ by one are told apart, and the ends of the 64-bit range come back exactly',
    kills: 'roundsToDoubles',
    async run({ open }) {
      const views = await open();
      const versions = [-1n, 0n, -2n].map((offset) => version({ lamport: LAMPORT_MAX + offset }));
      await winsInEveryOrder(views, 'higher', versions, 1);
      const ends = version({ rank: INT64_MIN, lamport: INT64_MAX, site: INT64_MIN, seq: INT64_MAX });
      await views.apply(STREAM, EPOCH, [change({ id: 'ends', version: ends })]);
      deepEqual((await memberOf(views, 'ends'))?.version, ends);
    },
  },
  {
    title: 'FLD-1: several writes of one field inside one call are judged like writes of several calls',
    kills: 'lastOfACallWins',
    async run({ open }) {
      const views = await open();
      await show(views);
      const writes = [2n, 3n, 1n].map((lamport) => change({ value: String(lamport), version: version({ lamport }) }));
      await views.apply(STREAM, EPOCH, writes);
      equal(await valueOf(views), '3');
    },
  },
  {
    title: 'FLD-1: every field of a document is a register of its own',
    kills: 'oneVersionPerDocument',
    async run({ open }) {
      const views = await open();
      await show(views);
      const newer = change({ field: 'a', value: '1', version: version({ lamport: 2n }) });
      await views.apply(STREAM, EPOCH, [newer, change({ field: 'b', value: '2' })]);
      const fields = (await views.document(STREAM, 'events', 'e1'))?.fields;
      deepEqual([...(fields ?? [])].map(([name, { members }]) => [name, members.get('')?.value]).sort(), [
        ['a', '1'],
        ['b', '2'],
      ]);
    },
  },
];
