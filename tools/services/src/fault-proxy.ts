import { once } from 'node:events';
import { Agent, type IncomingMessage, type ServerResponse, createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Call, readCall } from './dynamodb-call.ts';
import { WriteUnits } from './write-units.ts';

/** What a caller gets: an answer, or a connection that ends without one. */
export type Answer =
  | {
      readonly kind: 'answer';
      readonly status: number;
      readonly body: Uint8Array;
    }
  | { readonly kind: 'lost' };

/** Goes on with the next rule, and in the end to the stand-in. */
export type Forward = (call: Call) => Promise<Answer>;

/** Sees every call on its way, and may answer it, change it, keep it, or forward it and change the answer. */
export type Rule = (call: Call, forward: Forward) => Promise<Answer>;

/** What went through since the last look. */
export interface Traffic {
  /** Requests that came in, by call: also those that a rule answered. */
  readonly requests: Readonly<Record<string, number>>;
  /** Write units of what was forwarded, by action; cancelled transactions too. */
  readonly writeUnits: Readonly<Record<string, number>>;
}

export interface FaultProxy {
  readonly endpoint: string;
  /** The newest rule sees a call first. Answers what removes it again. */
  add(rule: Rule): () => void;
  /** Removes every rule. */
  clear(): void;
  /** Counts from now on; answers what was counted before. */
  traffic(): Traffic;
  close(): Promise<void>;
}

/**
 * Stands before the DynamoDB stand-in, on the loopback interface, and does what the stand-in never does: refuse, conflict, throttle, wait,
 * and lose answers. The rules are in fault-rules.ts; without any it only counts.
 */
export async function startFaultProxy(target: string): Promise<FaultProxy> {
  const agent = new Agent({ keepAlive: true, maxSockets: 256 });
  const writes = new WriteUnits(keyNamesAt(target, agent));
  const rules: Rule[] = [];
  let requests: Record<string, number> = {};
  let writeUnits: Record<string, number> = {};

  const server = createServer((incoming, response) => {
    void handle(incoming, response).catch(() => response.destroy());
  });

  async function handle(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const bytes = Buffer.concat(await incoming.toArray());
    const call = readCall(incoming.headers['x-amz-target'] as string | undefined, bytes);
    const send = (body: Uint8Array) => sendOn(target, agent, incoming, body);
    if (call === null) return reply(response, await send(bytes));
    add(requests, call.name, 1);
    const costed = { ...call, costs: await writes.costs(call) };
    const last: Forward = async (forwarded) => {
      const costs = forwarded === costed ? costed.costs : await writes.costs(forwarded);
      for (const { action, units } of costs) add(writeUnits, action.name, units);
      const answer = await send(forwarded === costed ? bytes : Buffer.from(JSON.stringify(forwarded.body)));
      if (answer.kind === 'answer' && answer.status === 200) await writes.stored(forwarded);
      return answer;
    };
    const all = rules.reduceRight<Forward>((next, rule) => (one) => rule(one, next), last);
    reply(response, await all(costed));
  }

  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    add: (rule) => {
      rules.unshift(rule);
      return () => {
        const at = rules.indexOf(rule);
        if (at >= 0) rules.splice(at, 1);
      };
    },
    clear: () => void rules.splice(0),
    traffic: () => {
      const seen = { requests, writeUnits };
      [requests, writeUnits] = [{}, {}];
      return seen;
    },
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
      agent.destroy();
    },
  };
}

function add(counts: Record<string, number>, name: string, by: number): void {
  counts[name] = (counts[name] ?? 0) + by;
}

function reply(response: ServerResponse, answer: Answer): void {
  if (answer.kind === 'lost') return void response.destroy();
  response.writeHead(answer.status, { 'content-type': 'application/x-amz-json-1.0' });
  response.end(answer.body);
}

async function sendOn(target: string, agent: Agent, from: IncomingMessage, body: Uint8Array): Promise<Answer> {
  const { connection: _, ...headers } = from.headers;
  const asked = request(new URL(from.url ?? '/', target), {
    agent,
    method: from.method ?? 'GET',
    headers: { ...headers, host: new URL(target).host, 'content-length': String(body.length) },
  });
  asked.end(body);
  const [message] = (await once(asked, 'response')) as [IncomingMessage];
  return { kind: 'answer', status: message.statusCode ?? 500, body: Buffer.concat(await message.toArray()) };
}

/** A stand-in wants a signature, and takes any. */
const SIGNATURE =
  'AWS4-HMAC-SHA256 Credential=proxy/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0';

/** Names of the attributes of a table's key, asked for once; none while the table is not there. */
function keyNamesAt(target: string, agent: Agent): (table: string) => Promise<readonly string[]> {
  const known = new Map<string, readonly string[]>();
  return async (table) => {
    const names = known.get(table) ?? (await askKeyNames(target, agent, table));
    if (names.length > 0) known.set(table, names);
    return names;
  };
}

async function askKeyNames(target: string, agent: Agent, table: string): Promise<readonly string[]> {
  const asked = request(target, {
    agent,
    method: 'POST',
    headers: {
      'x-amz-target': 'DynamoDB_20120810.DescribeTable',
      'x-amz-date': '20260101T000000Z',
      'content-type': 'application/x-amz-json-1.0',
      authorization: SIGNATURE,
    },
  });
  asked.end(JSON.stringify({ TableName: table }));
  const [message] = (await once(asked, 'response')) as [IncomingMessage];
  const text = Buffer.concat(await message.toArray()).toString();
  const told = JSON.parse(text) as { __type?: string; Table?: { KeySchema: { AttributeName: string }[] } };
  if (told.Table === undefined && told.__type?.endsWith('ResourceNotFoundException') !== true)
    throw new Error(`the stand-in does not describe ${table}: ${text}`);
  return (told.Table?.KeySchema ?? []).map(({ AttributeName }) => AttributeName);
}
