import { debianFile } from './debian.ts';
import { run } from './programs.ts';

/** The words that begin a Compose command: docker's own plugin where it answers, else Debian's, which needs no docker. */
export async function composeCommand(env: NodeJS.ProcessEnv = process.env): Promise<readonly [string, ...string[]]> {
  const plugged = await run('docker', ['compose', 'version'], { env }).then(
    () => true,
    () => false,
  );
  if (plugged) return ['docker', 'compose'];
  return [await debianFile('docker-compose', 'usr/libexec/docker/cli-plugins/docker-compose', env)];
}
