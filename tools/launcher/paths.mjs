import path from 'node:path';

export const root = path.resolve(import.meta.dirname, '../..');
export const apps = ['relay', 'ingest', 'fold-worker'];
/** Where the build of a project (its folder, such as apps/relay) goes. */
export const outDir = (project) => path.join(root, 'dist', project);
