import { z } from 'zod';
import { type Settings, type SettingsRule, type SettingsShape, isLoopback } from './settings.ts';

/** Where DynamoDB is, for every service that keeps something in it. */
export const dynamodbSettings = {
  DYNAMODB_ENDPOINT: z
    .url({ protocol: /^https?$/, error: 'must be a URL such as http://127.0.0.1:8000' })
    .optional()
    .describe('a stand-in for DynamoDB; unset: AWS'),
  AWS_REGION: z.string().min(1).optional().describe('region of the DynamoDB tables'),
  AWS_ACCESS_KEY_ID: z.string().optional().describe('read by the AWS SDK, as all of its standard variables'),
  AWS_PROFILE: z.string().optional().describe('read by the AWS SDK'),
} satisfies SettingsShape;

/** As DynamoDB takes it. */
export const tableName = z.string().regex(/^[\w.-]{3,255}$/, 'must be 3 to 255 letters, digits, or one of . _ -');

/** On AWS the region says where the tables are; no region is a good default. `choice`: the setting that may be `dynamodb`. */
export function regionRule(choice: string): SettingsRule {
  return (given) =>
    given[choice] === 'dynamodb' && given.AWS_REGION === undefined && given.DYNAMODB_ENDPOINT === undefined
      ? [`AWS_REGION: must be set where ${choice} is dynamodb (or DYNAMODB_ENDPOINT, for a stand-in)`]
      : [];
}

/** As a client of DynamoDB takes it. Without credentials it finds them as every AWS tool does. */
export function dynamodbPlace(settings: Settings<typeof dynamodbSettings>) {
  const { DYNAMODB_ENDPOINT: endpoint, AWS_REGION: region } = settings;
  return {
    endpoint,
    region: region ?? (endpoint === undefined ? undefined : 'us-east-1'),
    credentials: madeUpCredentials(settings) ? { accessKeyId: 'none', secretAccessKey: 'none' } : undefined,
  };
}

/** A stand-in on this machine wants a signature and takes any: without credentials of its own a service signs with made-up ones. */
function madeUpCredentials(settings: Settings<typeof dynamodbSettings>): boolean {
  const { DYNAMODB_ENDPOINT: endpoint, AWS_ACCESS_KEY_ID: key, AWS_PROFILE: profile } = settings;
  if (endpoint === undefined || key !== undefined || profile !== undefined) return false;
  return isLoopback(new URL(endpoint).hostname.replace(/^\[|\]$/g, ''));
}
