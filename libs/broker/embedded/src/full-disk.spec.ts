import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Broker, PublishOutcome } from '@tidemark/libs-broker-contract';
import { ACK_WAIT_MS, SpecQueue, drain, tell } from './spec-queue.ts';

const KILOBYTE = ''.padEnd(1000, '.');

let queue: SpecQueue;
beforeEach(async () => (queue = await SpecQueue.make()));
afterEach(() => queue.end());

test('OPS-6: a file at its limit refuses publishes as full, keeps what it holds, and takes more after acks', async () => {
  const { broker, worker } = await queue.start({ fileBytesMax: 300_000 });
  const { stored, end } = await fill(broker);
  expect(end).toEqual({ kind: 'full', detail: expect.stringContaining('the disk is full') });
  expect(await drain(worker)).toEqual(stored);
  expect((await tell(broker, 'again')).kind).toBe('stored');
  expect(await drain(worker)).toEqual(['again']);
});

test('OPS-6: a disk without space refuses publishes as full and acks as disk_full, and goes on when there is space again', async () => {
  const folder = join(queue.folder, 'small');
  if (!mountSmallDisk(folder)) return console.warn('skipped: no right to mount a small disk');
  try {
    const ballast = join(folder, 'ballast');
    writeFileSync(ballast, Buffer.alloc(400_000));
    const { broker, worker } = await queue.start({ folder });
    const { stored, end } = await fill(broker);
    expect(end).toEqual({ kind: 'full', detail: expect.stringContaining('the disk is full') });
    await expect(drain(worker)).rejects.toMatchObject({ code: 'disk_full', outcome: 'not-done' });
    rmSync(ballast);
    expect((await tell(broker, 'again')).kind).toBe('stored');
    await queue.pass(ACK_WAIT_MS);
    expect(await drain(worker)).toEqual([...stored, 'again']);
  } finally {
    spawnSync('umount', ['--lazy', folder]);
  }
});

function mountSmallDisk(folder: string): boolean {
  mkdirSync(folder);
  return spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1500k', 'tmpfs', folder]).status === 0;
}

async function fill(broker: Broker): Promise<{ stored: string[]; end: PublishOutcome }> {
  const stored: string[] = [];
  for (;;) {
    const text = `${stored.length} ${KILOBYTE}`;
    const end = await tell(broker, text);
    if (end.kind !== 'stored') return { stored, end };
    stored.push(text);
  }
}
