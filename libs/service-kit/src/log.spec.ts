import { createLog } from './log.ts';

// kills: log.ts: name === ignoreBrokenPipe.name => name === ''
test('any number of logs, also of several copies of this code, listen to standard output once', async () => {
  for (let copy = 0; copy < 3; copy++) {
    jest.resetModules();
    (await import('./log.ts')).createLog('copy', 'silent');
    createLog('test', 'silent');
  }
  const names = process.stdout.listeners('error').map(({ name }) => name);
  expect(names.filter((name) => name === 'ignoreBrokenPipe')).toHaveLength(1);
});
