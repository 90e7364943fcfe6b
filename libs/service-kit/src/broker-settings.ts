import { z } from 'zod';
import type { Settings, SettingsRule, SettingsShape } from './settings.ts';

const file = () => z.string().min(1).optional();

/** Where the broker is. Secrets stand in files alone, which are read again at every connect. */
export const brokerSettings = {
  TIDEMARK_BROKER: z
    .enum(['embedded', 'nats'])
    .default('embedded')
    .describe('the broker: embedded (a file in TIDEMARK_DATA, for one host) or nats (JetStream)'),
  NATS_URL: z
    .string()
    .regex(
      /^(?:(?:nats|tls):\/\/[^\s/@,]+(?:,|$))+$/,
      'must be nats://host:port or tls://host:port, several with commas',
    )
    .optional()
    .describe('servers of the broker nats, such as nats://127.0.0.1:4222, several with commas'),
  TIDEMARK_NATS_PREFIX: z
    .string()
    .regex(/^[a-z0-9_-]{1,32}$/, 'must be 1 to 32 of a-z, 0-9, _ and -')
    .default('tidemark')
    .describe('begins every name on the server: installations with different ones do not see each other'),
  TIDEMARK_NATS_MANAGE_STREAMS: z
    .enum(['0', '1'])
    .transform((digit) => digit === '1')
    .prefault('1')
    .describe('1: streams and consumers are made and resized as needed; 0: they are an operator’s, and only verified'),
  TIDEMARK_NATS_REPLICAS: z.coerce
    .number()
    .int()
    .min(1)
    .max(5)
    .default(1)
    .describe('copies of each stream, on so many servers; 3 for a cluster'),
  TIDEMARK_NATS_CREDS_FILE: file().describe('credentials file (JWT and seed)'),
  TIDEMARK_NATS_NKEY_FILE: file().describe('file of an nkey seed'),
  TIDEMARK_NATS_USER: z
    .string()
    .min(1)
    .optional()
    .describe('user name; its password stands in TIDEMARK_NATS_PASSWORD_FILE'),
  TIDEMARK_NATS_PASSWORD_FILE: file().describe('file of the password of TIDEMARK_NATS_USER'),
  TIDEMARK_NATS_CA_FILE: file().describe('PEM file of the certificate authorities to trust; unset: the usual ones'),
  TIDEMARK_NATS_CERT_FILE: file().describe('PEM file of our certificate, for servers that ask for one'),
  TIDEMARK_NATS_KEY_FILE: file().describe('PEM file of its key'),
} satisfies SettingsShape;

const WAYS_IN = ['TIDEMARK_NATS_CREDS_FILE', 'TIDEMARK_NATS_NKEY_FILE', 'TIDEMARK_NATS_USER'];
const PAIRS = [
  ['TIDEMARK_NATS_USER', 'TIDEMARK_NATS_PASSWORD_FILE'],
  ['TIDEMARK_NATS_CERT_FILE', 'TIDEMARK_NATS_KEY_FILE'],
] as const;

/** What must hold between them, for a service that talks to the broker. */
export const brokerRule: SettingsRule = (given) => {
  if (given.TIDEMARK_BROKER !== 'nats') return [];
  const ways = WAYS_IN.filter((name) => given[name] !== undefined);
  return [
    ...(given.NATS_URL === undefined ? ['NATS_URL: must be set where TIDEMARK_BROKER is nats'] : []),
    ...(ways.length > 1 ? [`${ways.join(', ')}: only one of them may be set`] : []),
    ...PAIRS.flatMap(([one, other]) => {
      if ((given[one] === undefined) === (given[other] === undefined)) return [];
      const [absent, present] = given[one] === undefined ? [one, other] : [other, one];
      return [`${absent}: must be set where ${present} is`];
    }),
  ];
};

export type BrokerSettings = Settings<typeof brokerSettings>;

/** The settings as a connection to NATS takes them. */
export function natsSettings(settings: BrokerSettings) {
  const tls = {
    ...(settings.TIDEMARK_NATS_CA_FILE !== undefined && { caFile: settings.TIDEMARK_NATS_CA_FILE }),
    ...(settings.TIDEMARK_NATS_CERT_FILE !== undefined && { certFile: settings.TIDEMARK_NATS_CERT_FILE }),
    ...(settings.TIDEMARK_NATS_KEY_FILE !== undefined && { keyFile: settings.TIDEMARK_NATS_KEY_FILE }),
  };
  const auth = natsAuth(settings);
  return {
    servers: settings.NATS_URL as string,
    prefix: settings.TIDEMARK_NATS_PREFIX,
    manageStreams: settings.TIDEMARK_NATS_MANAGE_STREAMS,
    replicas: settings.TIDEMARK_NATS_REPLICAS,
    ...(auth !== undefined && { auth }),
    ...(Object.keys(tls).length > 0 && { tls }),
  };
}

function natsAuth(settings: BrokerSettings) {
  const { TIDEMARK_NATS_CREDS_FILE: creds, TIDEMARK_NATS_NKEY_FILE: seedFile, TIDEMARK_NATS_USER: user } = settings;
  if (creds !== undefined) return { kind: 'creds', file: creds } as const;
  if (seedFile !== undefined) return { kind: 'nkey', seedFile } as const;
  if (user === undefined) return undefined;
  return { kind: 'password', user, passwordFile: settings.TIDEMARK_NATS_PASSWORD_FILE as string } as const;
}
