// npm run dlq -- list|show|replay|drop [...]: dead letters of a running relay, over its HTTP routes for operators.
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { underNode24 } from './node24.mjs';
import { OperatorApi } from './operator-api.mjs';
import { Problem, complain, progressBar, say } from './terminal.mjs';

const USAGE = `npm run dlq -- list [options]              events that could not become ops, oldest first
npm run dlq -- show ID [options]           one of them, with what was queued
npm run dlq -- replay ID...|all [options]  append them to their streams, after what was wrong has been mended
npm run dlq -- drop ID... [options]        give them up

  --relay URL        default http://127.0.0.1:8787
  --tenant ID        whose queue; default 0
  --token-file FILE  a token with the right to admin, where the relay asks for one
  --json             one JSON object a line, for programs
  --help             this text

A replay keeps the op id, so it may be repeated. What cannot be replayed stays, and the exit code is 1.`;

const PAGE = 500;
const text = (value) => ({ type: 'string', ...(value !== undefined && { default: value }) });
const options = {
  relay: text('http://127.0.0.1:8787'),
  tenant: text('0'),
  'token-file': text(),
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
};

class Letters {
  #api;
  #place;

  constructor({ relay, tenant, 'token-file': file }) {
    this.#api = new OperatorApi(relay, file);
    this.#place = `/v1/dead-letters/${encodeURIComponent(tenant)}`;
  }

  ask(method, place = '') {
    return this.#api.ask(method, this.#place + place);
  }

  async *all() {
    for (let after = '0'; after !== null;) {
      const page = await this.ask('GET', `?after=${after}&limit=${PAGE}`);
      yield* page.dead_letters;
      after = page.next;
    }
  }
}

async function list(letters, _ids, { json }) {
  let count = 0;
  for await (const letter of letters.all()) {
    count++;
    const { id, parked_at, table, bytes, reason } = letter;
    say(json ? JSON.stringify(letter) : `${id}  ${parked_at}  ${table}  ${bytes} bytes  ${reason}`);
  }
  if (!json) say(count === 0 ? 'no dead letters' : `${count} dead letters`);
  return 0;
}

async function show(letters, ids, { json }) {
  if (ids.length !== 1) throw new Problem('show: give one ID');
  const letter = await letters.ask('GET', `/${ids[0]}`);
  say(JSON.stringify(letter, null, json ? 0 : 2));
  return 0;
}

async function replay(letters, ids, { json }) {
  const chosen = ids.length === 1 && ids[0] === 'all' ? await idsOf(letters) : needed('replay', ids);
  return each(chosen, 'replayed', json, async (id) => {
    const { stream, seq, stored } = await letters.ask('POST', `/${id}/replay`);
    return `${id}: seq ${seq} of ${stream}${stored ? '' : ', where it was already'}`;
  });
}

async function drop(letters, ids, { json }) {
  return each(needed('drop', ids), 'dropped', json, async (id) => {
    await letters.ask('DELETE', `/${id}`);
    return `${id}: dropped`;
  });
}

async function idsOf(letters) {
  const ids = [];
  for await (const { id } of letters.all()) ids.push(String(id));
  return ids;
}

function needed(command, ids) {
  if (ids.length === 0) throw new Problem(`${command}: give at least one ID`);
  return ids;
}

/** Goes on after one that fails; exit code 1 then. */
async function each(ids, done, json, work) {
  const bar = ids.length > 20 && !json ? progressBar(done, ids.length) : null;
  const failed = [];
  for (const [at, id] of ids.entries()) {
    try {
      const told = await work(id);
      if (json) say(JSON.stringify({ id, [done]: true }));
      else if (bar === null) say(told);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      failed.push(id);
      if (json) say(JSON.stringify({ id, [done]: false, error: error.message }));
      else complain(`${id}: ${error.message}`);
    }
    bar?.at(at + 1);
  }
  bar?.end();
  if (!json) say(`${ids.length - failed.length} ${done}${failed.length === 0 ? '' : `, ${failed.length} not`}`);
  return failed.length === 0 ? 0 : 1;
}

const commands = { list, show, replay, drop };

function parse(args) {
  try {
    return parseArgs({ args, options, allowPositionals: true });
  } catch (error) {
    throw new Problem(error.message.replaceAll('\n', ' '));
  }
}

await underNode24(fileURLToPath(import.meta.url), async (args) => {
  const { values, positionals } = parse(args);
  const [command, ...ids] = positionals;
  if (values.help || command === undefined) {
    say(USAGE);
    return values.help ? 0 : 1;
  }
  if (!Object.hasOwn(commands, command)) throw new Problem(`no command ${command}; npm run dlq -- --help lists them`);
  for (const id of ids)
    if (!/^\d+$/.test(id) && !(command === 'replay' && id === 'all'))
      throw new Problem(`${id}: expected an ID, a whole number`);
  return commands[command](new Letters(values), ids, values);
});
