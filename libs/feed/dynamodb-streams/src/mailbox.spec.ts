import { Mailbox } from './mailbox.ts';

const changes = (...streams: string[]) => streams.map((stream) => ({ stream, head: 1n }));

// kills: mailbox.ts: mark.batch <= batch => mark.batch > 0
test('FLD-9: a position covers what was handed out by then, and nothing later', () => {
  const mailbox = new Mailbox<string>('m');
  mailbox.put({ source: 'x', changes: changes('a'), progress: '1' });
  const first = mailbox.take(10);
  mailbox.put({ source: 'x', changes: changes('b'), progress: '2' });
  mailbox.put({ source: 'y', changes: changes('c'), progress: '5' });
  const second = mailbox.take(10);
  expect(mailbox.reached(first.position)).toEqual(new Map([['x', '1']]));
  expect(mailbox.reached(first.position)).toEqual(new Map());
  expect(mailbox.reached(second.position)).toEqual(
    new Map([
      ['x', '2'],
      ['y', '5'],
    ]),
  );
});

// kills: mailbox.ts: changes: parcel.changes.slice(room) }; => changes: [] };
test('FLD-9: a page that does not fit is handed out in parts, and counts with its last part', () => {
  const mailbox = new Mailbox<string>('m');
  mailbox.put({ source: 'x', changes: changes('a', 'b', 'c'), progress: '1' });
  const batches = [mailbox.take(2), mailbox.take(2)];
  expect(batches.map((batch) => batch.changes.map(({ stream }) => stream))).toEqual([['a', 'b'], ['c']]);
  expect(mailbox.reached(batches[0]?.position ?? '')).toEqual(new Map());
  expect(mailbox.reached(batches[1]?.position ?? '')).toEqual(new Map([['x', '1']]));
});

test('FLD-9: a position of another handle means nothing', () => {
  const mailbox = new Mailbox<string>('m');
  mailbox.put({ source: 'x', changes: changes('a'), progress: '1' });
  mailbox.take(10);
  for (const position of ['', 'other/99', '99', 'm', 'm/x']) expect(mailbox.reached(position)).toEqual(new Map());
});

test('FLD-9: what comes of a source that is lost is handed out, and not checkpointed', () => {
  const mailbox = new Mailbox<string>('m');
  mailbox.put({ source: 'x', changes: changes('a'), progress: '1' });
  mailbox.put({ source: 'x', changes: [], progress: '2' });
  mailbox.take(10);
  mailbox.put({ source: 'x', changes: [], progress: '3' });
  mailbox.forget('x');
  expect(mailbox.isEmpty).toBe(true);
  expect(mailbox.reached('m/9')).toEqual(new Map());
});

test('OPS-4: positions that are not checkpointed for long are kept in bounds, and never reach too far', () => {
  const mailbox = new Mailbox<string>('m');
  for (let n = 1; n <= 5000; n++) {
    mailbox.put({ source: 'x', changes: changes('a'), progress: String(n) });
    mailbox.take(10);
  }
  const reached = Number(mailbox.reached('m/2500').get('x'));
  expect(reached).toBeLessThanOrEqual(2500);
  expect(reached).toBeGreaterThan(2300);
  expect(mailbox.reached('m/5000').get('x')).toBe('5000');
});
