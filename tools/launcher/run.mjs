import { setTimeout as sleep } from 'node:timers/promises';
import { openDemo, playDemo } from './demo.mjs';
import { bundleWhenStale } from './fresh.mjs';
import { apps } from './paths.mjs';
import { Supervisor, dataFolder, judgeSettings, services, urlOf } from './supervisor.mjs';
import { Problem, complain, say } from './terminal.mjs';

/**
 * One wish to stop may come as two signals: npm hands on a Ctrl-C that the terminal sent to us as well, and who signals a whole group
 * of processes reaches us twice. Both come within this time.
 */
const ECHO_MS = 300;

/**
 * Builds and runs the services; with a demo plays it and stops. Resolves to the exit code.
 * @param {{ file: string | null } | null} demo
 */
export async function run(demo) {
  judgeSettings({ demo: demo !== null });
  const records = demo === null ? null : await openDemo(demo.file);
  const folder = dataFolder();
  await bundleWhenStale(async () => {
    const { bundle } = await import('./bundle.mjs');
    await Promise.all(apps.map((app) => bundle(`apps/${app}`)));
  });
  const supervisor = new Supervisor();
  const asked = stopAsked(supervisor);
  try {
    const work = supervisor.start(folder).then(() => {
      if (supervisor.stopping) return;
      return records === null ? welcome(folder) : playDemo(records, urls);
    });
    await Promise.race([work, asked.then(() => supervisor.willStop()), supervisor.failed]);
  } catch (error) {
    const cause = await rootOf(error, supervisor);
    await supervisor.stop();
    throw cause;
  }
  const problems = await supervisor.stop();
  if (problems.length > 0) throw new Problem(problems.join('\n'));
  say('stopped');
  return 0;
}

/** A request that failed because a service died is told as the death of the service, which is noticed a moment later. */
async function rootOf(error, supervisor) {
  if (error instanceof Problem) return error;
  const death = supervisor.failed.catch((problem) => problem);
  return Promise.race([death, sleep(1000).then(() => error)]);
}

const url = (name) => urlOf(services.find((service) => service.name === name));
const urls = { relay: url('relay'), ingest: url('ingest'), fold: url('fold-worker') };

/** Resolves at the first request to stop; a second one ends everything at once. */
function stopAsked(supervisor) {
  return new Promise((resolve) => {
    let firstMs = null;
    const ask = () => {
      if (firstMs === null) {
        firstMs = Date.now();
        say('stopping');
        resolve();
      } else if (Date.now() - firstMs > ECHO_MS) {
        supervisor.kill();
        complain('stopped at once');
        process.exit(1);
      }
    };
    process.on('SIGINT', ask);
    process.on('SIGTERM', ask);
    process.on('disconnect', ask);
  });
}

/** Says where the services are, then waits for ever. */
function welcome(folder) {
  const width = Math.max(...services.map(({ name }) => name.length));
  for (const service of services) say(`${service.name.padEnd(width)}  ${urlOf(service)}`);
  say(`data in ${folder}, logs in ${folder}/logs; Ctrl-C stops\n`);
  say('Try:');
  say(
    `  curl -s '${url('ingest')}/v1/ingest?table=events' -H 'content-type: application/json' -d '{"event_id":"hello-1","text":"first"}'`,
  );
  say(`  curl -s '${url('relay')}/streams/0.events/ops?since=0'`);
  say(`  curl -s '${url('fold-worker')}/v1/streams/0.events/documents/events/hello-1'`);
  return new Promise(() => {});
}
