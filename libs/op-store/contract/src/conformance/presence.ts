import { deepEqual, equal } from 'node:assert/strict';
import type { ConformanceCase } from '@tidemark/libs-kernel/testing';
import type { PresenceBoard, PresentMachines } from '../presence-board.ts';
import type { PresenceBoardHarness } from './harness.ts';

/** What a presence board promises. */
export const presenceCases: readonly ConformanceCase<PresenceBoardHarness>[] = [
  {
    title: 'RLY-15: the most recent machine comes first, equal times by the bytes of the id',
    kills: 'sorts-ids-without-case',
    async run({ open }) {
      const board = await open();
      await threeMachines(board);
      deepEqual(idsOf(await board.machines('s', 0n, 100)), ['Mb', 'ma', 'z9']);
    },
  },
  {
    title: 'RLY-15: a row comes back as announced, with the time of the relay',
    kills: 'cuts-a-long-name',
    async run({ open }) {
      const board = await open();
      const hello = { machineId: '!'.repeat(64), name: 'é'.repeat(64), intervalSecs: 3600n };
      await board.announce('s', hello, 1_790_000_000n, 0n);
      deepEqual((await board.machines('s', 0n, 1)).machines, [{ ...hello, lastSeenSecs: 1_790_000_000n }]);
    },
  },
  {
    title: 'RLY-15: a longer list is cut at the limit and says so',
    kills: 'never-says-truncated',
    async run({ open }) {
      const board = await open();
      await threeMachines(board);
      const page = await board.machines('s', 0n, 2);
      deepEqual(idsOf(page).sort(), ['Mb', 'ma']);
      equal(page.truncated, true);
    },
  },
  {
    title: 'RLY-15: exactly as many as the limit is not truncated',
    kills: 'says-truncated-at-the-limit',
    async run({ open }) {
      const board = await open();
      await threeMachines(board);
      equal((await board.machines('s', 0n, 3)).truncated, false);
    },
  },
  {
    title: 'RLY-15: only machines seen since the given second are listed, that second included',
    kills: 'leaves-out-the-first-second',
    async run({ open }) {
      const board = await open();
      await threeMachines(board);
      deepEqual(idsOf(await board.machines('s', 51n, 100)).sort(), ['Mb', 'ma']);
      deepEqual(idsOf(await board.machines('s', 50n, 100)).sort(), ['Mb', 'ma', 'z9']);
      deepEqual(await board.machines('s', 101n, 100), { machines: [], truncated: false });
    },
  },
  {
    title: 'RLY-15: a machine has one row, overwritten by each announcement',
    kills: 'keeps-the-first-name',
    async run({ open }) {
      const board = await open();
      await threeMachines(board);
      await board.announce('s', { machineId: 'z9', name: 'renamed', intervalSecs: 600n }, 400n, 0n);
      const { machines } = await board.machines('s', 0n, 100);
      deepEqual(machines[0], { machineId: 'z9', name: 'renamed', intervalSecs: 600n, lastSeenSecs: 400n });
      equal(machines.length, 3);
    },
  },
  {
    title: 'RLY-15: an announcement counts also when the clock has stepped back',
    kills: 'keeps-the-later-time',
    async run({ open }) {
      const board = await open();
      await hello(board, 's', 'm', 400n);
      await hello(board, 's', 'm', 300n);
      equal((await board.machines('s', 0n, 1)).machines[0]?.lastSeenSecs, 300n);
    },
  },
  {
    title: 'RLY-15: an announcement forgets the rows seen before the given second, and keeps those of that second',
    kills: 'never-forgets',
    async run({ open }) {
      const board = await open();
      await threeMachines(board);
      await hello(board, 's', 'new', 500n, 100n);
      deepEqual(idsOf(await board.machines('s', 0n, 100)).sort(), ['Mb', 'ma', 'new']);
    },
  },
  {
    title: 'RLY-15: an announcement forgets nothing of other streams',
    kills: 'forgets-in-every-stream',
    async run({ open }) {
      const board = await open();
      await hello(board, 'other', 'old', 50n);
      await hello(board, 's', 'new', 500n, 400n);
      deepEqual(idsOf(await board.machines('other', 0n, 100)), ['old']);
    },
  },
  {
    title: 'RLY-15: a stream lists its own machines, and an unknown stream none',
    kills: 'shows-another-board-for-an-unknown-stream',
    async run({ open }) {
      const board = await open();
      await hello(board, 's', 'm', 100n);
      deepEqual(await board.machines('unknown', 0n, 100), { machines: [], truncated: false });
    },
  },
  {
    title: 'RLY-18: machines announced through any handle are listed by every handle, also by one that opens later',
    kills: 'forgets-on-open',
    async run({ open }) {
      const early = [await open(), await open()];
      await Promise.all(early.map((board, i) => hello(board, 's', `m${i}`, BigInt(100 - i))));
      for (const board of [...early, await open()]) deepEqual(idsOf(await board.machines('s', 0n, 100)), ['m0', 'm1']);
    },
  },
];

function idsOf({ machines }: PresentMachines): string[] {
  return machines.map(({ machineId }) => machineId);
}

async function hello(
  board: PresenceBoard,
  stream: string,
  machineId: string,
  nowSecs: bigint,
  forgetBeforeSecs = 0n,
): Promise<void> {
  await board.announce(
    stream,
    { machineId, name: `name of ${machineId}`, intervalSecs: 20n },
    nowSecs,
    forgetBeforeSecs,
  );
}

async function threeMachines(board: PresenceBoard): Promise<void> {
  await hello(board, 's', 'ma', 100n);
  await hello(board, 's', 'Mb', 100n);
  await hello(board, 's', 'z9', 50n);
}
