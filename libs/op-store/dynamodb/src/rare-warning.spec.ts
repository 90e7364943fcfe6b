import { ManualTime } from '@tidemark/libs-kernel/testing';
import { RareWarning } from './rare-warning.ts';

// kills: rare-warning.ts: if (nowMs - this.#saidAtMs < QUIET_MS) return; => void QUIET_MS;
it('RLY-11: throttled rounds of all streams are one line at first, and then one in 10 s at most, with their number', () => {
  const time = new ManualTime();
  const lines: object[] = [];
  const log = { warn: (fields: object) => void lines.push(fields), info: () => {} };
  const throttles = new RareWarning(time, log, 'rounds', 'throttled');
  for (const [stream, ms] of [
    ['a', 0],
    ['b', 9_999],
    ['a', 1],
    ['a', 20_000],
  ] as const) {
    time.advance(ms);
    throttles.happened(stream);
  }
  expect(lines).toEqual([
    { stream: 'a', rounds: 1 },
    { stream: 'a', rounds: 2 },
    { stream: 'a', rounds: 1 },
  ]);
});
