import { openClient } from './client.ts';

/** What the SDK's own handler offers to look at. */
interface HttpHandler {
  handle(request: object): Promise<unknown>;
  httpHandlerConfigs(): { readonly httpAgent?: unknown; readonly httpsAgent?: unknown };
}

const REGION = ['AWS_REGION', 'AWS_CONFIG_FILE', 'AWS_SHARED_CREDENTIALS_FILE', 'AWS_PROFILE'];
const before = new Map(REGION.map((name) => [name, process.env[name]]));
afterEach(() => {
  for (const [name, value] of before)
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
});

// kills: client.ts: await client.config.region() => void client
test('DDP-6: without a region anywhere the store refuses to open', async () => {
  for (const name of REGION) process.env[name] = '/nowhere';
  delete process.env['AWS_REGION'];
  delete process.env['AWS_PROFILE'];
  await expect(openClient({}, 1)).rejects.toMatchObject({
    code: 'misconfigured',
    message: expect.stringMatching(/region/),
  });
  process.env['AWS_REGION'] = 'eu-central-1';
  const client = await openClient({}, 1);
  expect(await client.config.region()).toBe('eu-central-1');
  client.destroy();
});

test('DDP-6: the SDK makes one attempt, with a socket for each call that may run and none closed between two', async () => {
  const client = await openClient({ region: 'eu-central-1' }, 300);
  const handler = client.config.requestHandler as unknown as HttpHandler;
  // It takes its settings with the first request.
  await handler.handle({ protocol: 'none:' }).catch(() => {});
  const agent = { maxSockets: 300, maxFreeSockets: 300, keepAlive: true };
  const { httpAgent, httpsAgent } = handler.httpHandlerConfigs();
  expect([httpAgent, httpsAgent]).toEqual([expect.objectContaining(agent), expect.objectContaining(agent)]);
  expect(await client.config.maxAttempts()).toBe(1);
  client.destroy();
});
