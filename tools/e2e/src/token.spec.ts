import { execFile } from 'node:child_process';
import path from 'node:path';

const script = path.resolve(import.meta.dirname, '../../launcher/token.mjs');

interface Said {
  readonly failed: boolean;
  readonly stdout: string;
  readonly stderr: string;
}

const run = (...args: string[]) =>
  new Promise<Said>((resolve) =>
    execFile(process.execPath, [script, ...args], (error, stdout, stderr) =>
      resolve({ failed: error !== null, stdout, stderr }),
    ),
  );

const NAMED = ['--name', 'n'];
const FOR_ALL = ['--streams', '*'];

test('SEC-1: an entry that the services would refuse is not made; one line says why', async () => {
  const refused: [string, string[]][] = [
    ['--name is missing', FOR_ALL],
    ['--tenants or --streams must be given', NAMED],
    ['--name: must be 1 to 256 characters without control characters', ['--name', 'a\nb', ...FOR_ALL]],
    ['--streams: a * may stand only at the end of a stream', [...NAMED, '--streams', 'ok,a*b']],
    ['--tenants: a tenant is named in full, without *', [...NAMED, '--tenants', 'x*']],
    ['--tenants: a name in the list is empty', [...NAMED, '--tenants', 'x,']],
    ['--expires: must be a time such as 2027-01-31T00:00:00Z', [...NAMED, ...FOR_ALL, '--expires', '2027-13-45']],
    ['--expires: must be a time', [...NAMED, ...FOR_ALL, '--expires', '2027-02-30T00:00:00Z']],
    ['--actions: ', [...NAMED, ...FOR_ALL, '--actions', 'read,delete']],
    ['--claims: ', [...NAMED, ...FOR_ALL, '--claims', '[1]']],
    ['--claims: must be a JSON object', [...NAMED, ...FOR_ALL, '--claims', '{org:1}']],
    ['--roles: ', [...NAMED, ...FOR_ALL, '--roles', 'shop,']],
    ["Unknown option '--stream'", [...NAMED, '--stream', 'x']],
  ];
  const said = await Promise.all(refused.map(([, args]) => run(...args)));
  for (const [at, [why]] of refused.entries()) {
    const { failed, stdout, stderr } = said[at]!;
    expect([why, failed, stdout, stderr.startsWith(why), stderr.split('\n').length]).toEqual([why, true, '', true, 2]);
  }
}, 60_000);

test('SEC-1, ING-9: roles and claims stand in the entry as they were asked for', async () => {
  const asked = ['--tenants', 'acme', '--actions', 'write', '--roles', 'shop, backend', '--claims', '{"org":"o1"}'];
  const { stdout } = await run(...NAMED, ...asked);
  expect(JSON.parse(stdout.slice(stdout.indexOf('{')))).toMatchObject({
    ...{ name: 'n', grants: [{ actions: ['write'], tenants: ['acme'] }], roles: ['shop', 'backend'] },
    claims: { org: 'o1' },
  });
}, 60_000);
