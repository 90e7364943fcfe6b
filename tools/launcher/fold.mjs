// npm run fold -- status|holes|parked|retry|drop|rebuild [...]: a running fold worker, over its HTTP routes for operators.
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { underNode24 } from './node24.mjs';
import { OperatorApi } from './operator-api.mjs';
import { Problem, complain, say } from './terminal.mjs';

const USAGE = `npm run fold -- status [options]                  how far this worker is behind, and what is stuck
npm run fold -- mark STREAM [options]             the mark of a stream
npm run fold -- streams [options]                 every stream with its mark, its head and its lag
npm run fold -- holes [options]                   streams with seqs that are missing below what is folded
npm run fold -- parked STREAM [options]           ops that cannot be folded, with the reason
npm run fold -- retry STREAM SEQ...|all [options] fold parked ops, after what was wrong has been mended
npm run fold -- drop STREAM SEQ... [options]      give parked ops up
npm run fold -- rebuild STREAM...|--all [options] fold anew beside what is shown, and switch when it is complete

  --fold URL         default http://127.0.0.1:8789
  --token-file FILE  a token with the right to admin, where the worker asks for one
  --all              rebuild: every stream
  --json             one JSON object a line, for programs
  --help             this text

What is asked for works through the views, so any worker of the fold may be asked. Exit code 1 when something was not done.`;

const PAGE = 500;
const text = (value) => ({ type: 'string', ...(value !== undefined && { default: value }) });
const options = {
  fold: text('http://127.0.0.1:8789'),
  'token-file': text(),
  all: { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
};

const ofStream = (stream) => `/v1/streams/${encodeURIComponent(stream)}`;

async function status(api, _args, { json }) {
  const status = await api.ask('GET', '/v1/fold');
  if (json) return done(say(JSON.stringify(status)));
  const { pending, lag_ops, held_ops, stuck, feed_fault, revisions } = status;
  say(`${pending} streams pending, ${lag_ops} ops behind, ${held_ops} of them behind a missing one`);
  say(
    `revisions: ${Object.entries(revisions)
      .map(([domain, revision]) => `${domain} ${revision}`)
      .join(', ')}`,
  );
  if (feed_fault !== null) say(`the feed does not answer: ${feed_fault}`);
  for (const { stream, kind, message, attempt } of stuck) say(`${stream}  ${kind}  ${attempt} turns  ${message}`);
  return 0;
}

async function streams(api, _args, { json }) {
  for await (const one of pages(api, '/v1/fold/streams')) {
    const { stream, folded_through, head, lag_ops, epoch, build } = one;
    const built = build === null ? '' : `  epoch ${build.epoch} built through ${build.folded_through}`;
    say(
      json ? JSON.stringify(one) : `${stream}  ${folded_through} of ${head}, ${lag_ops} behind  epoch ${epoch}${built}`,
    );
  }
  return 0;
}

/** Pages by stream; one may be empty and not the last. */
async function* pages(api, place) {
  for (let after = ''; after !== null;) {
    const page = await api.ask('GET', `${place}?limit=${PAGE}${after && `&after=${encodeURIComponent(after)}`}`);
    yield* page.streams;
    after = page.next;
  }
}

async function mark(api, args, { json }) {
  const [stream] = exactly('mark', args, 1);
  say(JSON.stringify(await api.ask('GET', `${ofStream(stream)}/watermark`), null, json ? 0 : 2));
  return 0;
}

async function holes(api, _args, { json }) {
  let count = 0;
  for await (const one of pages(api, '/v1/fold/holes')) {
    count++;
    const { stream, folded_through, holes: missing } = one;
    say(
      json ? JSON.stringify(one) : `${stream}  folded through ${folded_through}  ${missing.map(holeText).join(', ')}`,
    );
  }
  if (!json) say(count === 0 ? 'no holes' : `${count} streams with holes`);
  return 0;
}

const holeText = ({ from, to, first_seen_ms }) =>
  `${from === to ? from : `${from}-${to}`} since ${new Date(Number(first_seen_ms)).toISOString()}`;

async function* parkedOf(api, stream) {
  for (let after = '0'; after !== null;) {
    const page = await api.ask('GET', `${ofStream(stream)}/parked?after=${after}&limit=${PAGE}`);
    yield* page.parked;
    after = page.next;
  }
}

async function parked(api, args, { json }) {
  const [stream] = exactly('parked', args, 1);
  let count = 0;
  for await (const op of parkedOf(api, stream)) {
    count++;
    const { seq, op_id, reason, parked_at, attempts } = op;
    say(json ? JSON.stringify(op) : `${seq}  ${parked_at}  ${op_id ?? '-'}  tried ${attempts}  ${reason}`);
  }
  if (!json) say(count === 0 ? 'nothing is parked' : `${count} parked ops`);
  return 0;
}

async function retry(api, [stream, ...seqs], { json }) {
  if (stream === undefined || seqs.length === 0) throw new Problem('retry: give a stream, and seqs or all');
  const chosen = seqs.length === 1 && seqs[0] === 'all' ? await seqsOf(api, stream) : numbers(seqs);
  return each(chosen, 'folded', json, async (seq) => {
    const { folded, reason } = await api.ask('POST', `${ofStream(stream)}/parked/${seq}/retry`);
    if (!folded) throw new Problem(reason);
    return `${seq}: folded`;
  });
}

async function seqsOf(api, stream) {
  const seqs = [];
  for await (const { seq } of parkedOf(api, stream)) seqs.push(String(seq));
  return seqs;
}

async function drop(api, [stream, ...seqs], { json }) {
  if (stream === undefined || seqs.length === 0) throw new Problem('drop: give a stream and seqs');
  return each(numbers(seqs), 'dropped', json, async (seq) => {
    await api.ask('DELETE', `${ofStream(stream)}/parked/${seq}`);
    return `${seq}: dropped`;
  });
}

async function rebuild(api, streams, { all, json }) {
  if (all === streams.length > 0) throw new Problem('rebuild: give streams, or --all');
  if (all) return rebuildAll(api, json);
  return each(streams, 'begun', json, async (stream) => {
    const { epoch } = await api.ask('POST', `${ofStream(stream)}/rebuild`);
    return `${stream}: epoch ${epoch} is built`;
  });
}

/** Page by page; says after each how far it is. */
async function rebuildAll(api, json) {
  let begun = 0;
  for (let after = ''; after !== null;) {
    const { streams, next } = await api.ask(
      'POST',
      `/v1/fold/rebuild?limit=${PAGE}${after && `&after=${encodeURIComponent(after)}`}`,
    );
    begun += streams;
    if (json) say(JSON.stringify({ begun, through: next }));
    else if (next !== null) say(`${begun} rebuilds begun, through ${next}`);
    after = next;
  }
  return done(json || say(`${begun} rebuilds begun`));
}

const done = () => 0;

function exactly(command, args, count) {
  if (args.length !== count) throw new Problem(`${command}: give a stream`);
  return args;
}

function numbers(seqs) {
  for (const seq of seqs) if (!/^\d{1,19}$/.test(seq)) throw new Problem(`${seq}: expected a seq, a whole number`);
  return seqs;
}

/** Goes on after one that fails; exit code 1 then. */
async function each(names, what, json, work) {
  let failed = 0;
  for (const name of names) {
    try {
      const told = await work(name);
      say(json ? JSON.stringify({ of: name, [what]: true }) : told);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      failed++;
      if (json) say(JSON.stringify({ of: name, [what]: false, error: error.message }));
      else complain(`${name}: ${error.message}`);
    }
  }
  if (!json) say(`${names.length - failed} ${what}${failed === 0 ? '' : `, ${failed} not`}`);
  return failed === 0 ? 0 : 1;
}

const commands = { status, streams, mark, holes, parked, retry, drop, rebuild };

function parse(args) {
  try {
    return parseArgs({ args, options, allowPositionals: true });
  } catch (error) {
    throw new Problem(error.message.replaceAll('\n', ' '));
  }
}

await underNode24(fileURLToPath(import.meta.url), async (args) => {
  const { values, positionals } = parse(args);
  const [command, ...rest] = positionals;
  if (values.help || command === undefined) {
    say(USAGE);
    return values.help ? 0 : 1;
  }
  if (!Object.hasOwn(commands, command)) throw new Problem(`no command ${command}; npm run fold -- --help lists them`);
  return commands[command](new OperatorApi(values.fold, values['token-file']), rest, values);
});
