import { serverTests } from '@tidemark/tools-services/testing';
import { NatsError } from 'nats';
import { Fault } from '@tidemark/libs-kernel';
import { ConnectionLost, NoAnswer, faultOf, outcomeOf } from './map-error.ts';
import { SpecBroker, TENANT, tell } from './spec-broker.ts';
import { operatorOf } from './spec-operator.ts';

const natsTest = serverTests('nats');

let spec: SpecBroker | undefined;
afterEach(() => spec?.end());

function refusal(err_code: number, description: string): NatsError {
  const error = new NatsError(description, '503');
  error.api_error = { code: 503, err_code, description };
  return error;
}

natsTest('BRK-3: a really full stream says what we take for full: too many bytes', async (nats) => {
  spec = new SpecBroker(nats.endpoint);
  const { broker } = await spec.start({}, 3000n);
  await tell(broker, ''.padEnd(2000));
  expect(await tell(broker, ''.padEnd(2000))).toEqual({ kind: 'full', detail: 'maximum bytes exceeded (10077)' });
});

for (const [limit, text] of [
  [{ max_msgs: 1 }, 'maximum messages exceeded'],
  [{ max_msgs_per_subject: 1, discard_new_per_subject: true }, 'maximum messages per subject exceeded'],
] as const) {
  natsTest(`BRK-3: a really full stream of an operator says what we take for full: ${text}`, async (nats) => {
    spec = new SpecBroker(nats.endpoint);
    const { broker } = await spec.start();
    await using operator = await operatorOf(nats.endpoint);
    await operator.streams.update(`${spec.prefix}_INGEST_${TENANT}`, limit);
    await tell(broker, 'a');
    expect(await tell(broker, 'b')).toEqual({ kind: 'full', detail: `${text} (10077)` });
  });
}

test.each([
  ['storage directory is read-only', 'unknown'],
  ['maximum bytes exceeded by the disk', 'unknown'],
  ['', 'unknown'],
  ['maximum bytes exceeded', 'full'],
])('BRK-3: only the known words mean a full queue: %j is %s', (description, kind) => {
  expect(outcomeOf(refusal(10077, description), 1).kind).toBe(kind);
});

// kills: map-error.ts: sends === 1 ? 'full' : 'unavailable' => 'full'
test('BRK-3: full is no certain refusal when an earlier copy got no answer', () => {
  expect(outcomeOf(refusal(10077, 'maximum bytes exceeded'), 2).kind).toBe('unavailable');
});

test.each([
  ['no answer', new NoAnswer('no connection'), 'unavailable'],
  ['a broken connection', new ConnectionLost('broke'), 'unavailable'],
  ['a timeout', new NatsError('TIMEOUT', 'TIMEOUT'), 'unavailable'],
  ['nobody there', new NatsError('503', '503'), 'unavailable'],
  ['no leader', refusal(10008, 'JetStream system temporarily unavailable'), 'unavailable'],
  ['no resources', refusal(10023, 'insufficient resources'), 'unavailable'],
  ['another stream', refusal(10060, 'expected stream does not match'), 'unknown'],
  ['a missing right', new NatsError('permissions', 'PERMISSIONS_VIOLATION'), 'unknown'],
  ['a defect', new TypeError('x is not a function'), 'unknown'],
])('ING-2: a publish that ends with %s is never a certain refusal', (_, thrown, kind) => {
  expect(outcomeOf(thrown, 1).kind).toBe(kind);
});

test.each([
  ['no answer', new NoAnswer('no connection'), 'unavailable', 'unknown'],
  ['no leader', refusal(10008, 'temporarily unavailable'), 'unavailable', 'unknown'],
  ['no peers', refusal(10005, 'no suitable peers for placement'), 'unavailable', 'not-done'],
  ['a stream that is gone', refusal(10059, 'stream not found'), 'not_found', 'not-done'],
  ['a budget above the store', refusal(10047, 'insufficient storage resources available'), 'disk_full', 'not-done'],
  ['an overlap', refusal(10065, 'subjects overlap with an existing stream'), 'misconfigured', 'not-done'],
  ['a missing right', new NatsError('permissions', 'PERMISSIONS_VIOLATION'), 'misconfigured', 'not-done'],
  ['a wrong secret', new NatsError('denied', 'AUTHORIZATION_VIOLATION'), 'misconfigured', 'not-done'],
  ['anything else', refusal(10999, 'new'), 'internal', 'unknown'],
  ['a defect', new TypeError('x is not a function'), 'internal', 'unknown'],
])('BRK-6: elsewhere %s is a fault of the closed set', (_, thrown, code, outcome) => {
  expect(faultOf(thrown)).toMatchObject({ code, outcome });
});

test('BRK-6: no fault names the technology', () => {
  const thrown = [
    new NatsError('503', '503'),
    new NatsError('CONNECTION_CLOSED', 'CONNECTION_CLOSED'),
    refusal(1, 'x'),
  ];
  for (const one of thrown) expect(faultOf(one).message).not.toMatch(/nats|jetstream/i);
  expect(faultOf(new Fault('invalid', 'mine')).message).toBe('mine');
});
