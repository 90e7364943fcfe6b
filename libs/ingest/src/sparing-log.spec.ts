import { ManualTime } from '@tidemark/libs-kernel/testing';
import { SparingLog } from './sparing-log.ts';

function world() {
  const lines: [string, object, string][] = [];
  const to = (level: string) => (fields: object, message: string) => void lines.push([level, fields, message]);
  const time = new ManualTime();
  return { lines, time, log: new SparingLog({ info: to('info'), warn: to('warn'), error: to('error') }, time) };
}
const about = (table: string, tenant = '0') => ({ tenant, table });

// kills: sparing-log.ts: nowMs - last.atMs < AGAIN_MS => nowMs - last.atMs < 0
test('what lasts is told once a minute for each tenant, table and message, with how often it was left out', () => {
  const { lines, time, log } = world();
  for (let second = 0; second < 61; second++) {
    log.warn(about('a'), 'full');
    time.advance(1000);
  }
  log.warn(about('a'), 'full');
  expect(lines).toEqual([
    ['warn', about('a'), 'full'],
    ['warn', { ...about('a'), left_out: 59 }, 'full'],
  ]);
});

test('other tables, tenants, messages and levels have lines of their own', () => {
  const { lines, log } = world();
  log.warn(about('a'), 'full');
  log.warn(about('b'), 'full');
  log.warn(about('a', 't'), 'full');
  log.warn(about('a'), 'late');
  log.error(about('a'), 'full');
  log.info(about('a'), 'full');
  expect(lines).toHaveLength(6);
});
