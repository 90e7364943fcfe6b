import { clientSettings, placeSettings } from './settings.ts';

test('DDP-6: of a place only what is given is set, so that the SDK finds the rest in its environment', () => {
  expect(placeSettings({ endpoint: undefined, region: 'eu-central-1', credentials: undefined })).toEqual({
    region: 'eu-central-1',
  });
  const credentials = { accessKeyId: 'a', secretAccessKey: 's' };
  expect(placeSettings({ endpoint: 'http://127.0.0.1:8000', credentials })).toEqual({
    endpoint: 'http://127.0.0.1:8000',
    credentials,
  });
});

test('OPS-4: a client repeats a call twice, bounds each attempt, and has a connection for each call that may run', () => {
  const agent = { maxSockets: 7 };
  expect(clientSettings({ region: 'eu-central-1' }, 7)).toEqual({
    region: 'eu-central-1',
    maxAttempts: 3,
    requestHandler: {
      requestTimeout: 5000,
      throwOnRequestTimeout: true,
      connectionTimeout: 2000,
      httpAgent: agent,
      httpsAgent: agent,
    },
  });
});
