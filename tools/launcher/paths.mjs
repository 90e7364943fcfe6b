import { readFileSync } from 'node:fs';
import path from 'node:path';

export const root = path.resolve(import.meta.dirname, '../..');
export const apps = ['relay', 'ingest', 'fold-worker'];
/** Where the build of a project (its folder, such as apps/relay) goes. */
export const outDir = (project) => path.join(root, 'dist', project);
/**
 * How a service is started, by the launcher, by tests and benchmarks, and in its image (docker/Dockerfile repeats it). A young generation
 * of at most 48 MB keeps 5,000 idle readers of a new relay at 110 MB instead of 190; one of 12 MB makes small pushes a fifth slower.
 */
export const NODE_FLAGS = JSON.parse(readFileSync(new URL('node-flags.json', import.meta.url), 'utf8'));
