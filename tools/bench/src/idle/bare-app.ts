import { execFile } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';

const root = path.resolve(import.meta.dirname, '../../../..');

/** The least that Nest on Fastify can be. A text, because Nest belongs to the apps alone. */
const BARE_APP = `
import 'reflect-metadata';
import { Controller, Get, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';

@Controller()
class ProbeController {
  @Get('readyz')
  ready() {
    return { status: 'ok' };
  }
}

@Module({ controllers: [ProbeController] })
class BareModule {}

const app = await NestFactory.create<NestFastifyApplication>(BareModule, new FastifyAdapter(), { logger: false });
await app.listen(0, '127.0.0.1');
console.log(JSON.stringify({ address: await app.getUrl(), message: 'listening' }));
`;

const BARE = 'dist/bench-bare';

/** Bundles the three services and the bare app with the tool of the build; answers their entries by name. */
export async function buildAll(services: readonly string[]): Promise<Map<string, string>> {
  mkdirSync(path.join(root, BARE, 'src'), { recursive: true });
  writeFileSync(path.join(root, BARE, 'src', 'main.ts'), BARE_APP);
  const projects = [BARE, ...services.map((name) => `apps/${name}`)];
  const script = `import('./tools/launcher/bundle.mjs').then(({ bundle }) => Promise.all(${JSON.stringify(projects)}.map((one) => bundle(one))))`;
  await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script], { cwd: root });
  return new Map([
    ['bare', path.join(root, 'dist', BARE, 'main.js')],
    ...services.map((name) => [name, path.join(root, 'dist', 'apps', name, 'main.js')] as const),
  ]);
}

export function removeBare(): void {
  for (const folder of [BARE, path.join('dist', path.dirname(BARE))])
    rmSync(path.join(root, folder), { recursive: true });
}
