import { type Socket, connect } from 'node:net';
import { Controller, type DynamicModule, Get, Module, Param, Post, Req, Res } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Clock, Sleeper } from '@tidemark/libs-kernel';
import { json, send, sendJson } from './answer.ts';
import { bodyOf } from './bodies.ts';
import { type HttpOptions, createHttp, loadOf } from './http.ts';
import { createLog } from './log.ts';
import { Metrics } from './metrics.ts';
import { systemClock } from './system.ts';

/** A server whose handlers wait, for specs that speak to it over sockets of their own. */
export class SpecServer {
  readonly app: NestFastifyApplication;
  readonly metrics: Metrics;
  readonly port: number;
  readonly leaving: AbortController;
  readonly #clients: SpecClient[] = [];
  readonly #sockets: Socket[] = [];

  private constructor(app: NestFastifyApplication, metrics: Metrics, port: number, leaving: AbortController) {
    this.app = app;
    this.metrics = metrics;
    this.port = port;
    this.leaving = leaving;
    for (const server of loadOf(app).servers) server.on('connection', (socket) => this.#sockets.push(socket));
  }

  static async start(options: Partial<HttpOptions> = {}, time?: Clock & Sleeper): Promise<SpecServer> {
    gate.reset();
    const metrics = new Metrics('spec');
    const leaving = new AbortController();
    const module: DynamicModule = { module: SpecModule };
    const app = await createHttp(
      module,
      { bodyBytesMax: 100, ...options },
      {
        log: createLog('spec', 'silent'),
        metrics,
        clock: time ?? systemClock,
        ...(time && { sleeper: time }),
        leaving: leaving.signal,
        stopping: leaving.signal,
      },
    );
    await app.listen(0, '127.0.0.1');
    return new SpecServer(app, metrics, Number(new URL(await app.getUrl()).port), leaving);
  }

  /** Resolves when so many requests are inside of a handler that waits. */
  waiting(count: number): Promise<void> {
    return gate.reached(count);
  }

  /** How many requests have come to a handler that waits. */
  get entered(): number {
    return gate.inside;
  }

  /** Lets the handlers that wait go on, and those to come not wait. */
  finish(): void {
    gate.open();
  }

  connect(): SpecClient {
    const client = new SpecClient(this.port);
    this.#clients.push(client);
    return client;
  }

  /** What the server answers to these bytes, until it closes the connection. */
  async talk(text: string | Uint8Array): Promise<string> {
    const client = this.connect();
    client.write(text);
    return client.all();
  }

  /** Resolves when so many bytes have come on one connection after another. */
  async received(bytes: number): Promise<void> {
    const sum = () => this.#sockets.reduce((total, { bytesRead }) => total + bytesRead, 0);
    while (sum() < bytes) await new Promise(setImmediate);
  }

  /** Requests without an answer yet. */
  get requests(): number {
    return loadOf(this.app).traffic.requests;
  }

  async metric(name: string): Promise<number> {
    const line = (await this.metrics.registry.metrics()).split('\n').find((one) => one.startsWith(name));
    return Number(line?.split(' ').at(-1));
  }

  /** Cuts whatever a failed test has left. */
  async close(): Promise<void> {
    gate.open();
    for (const client of this.#clients) client.cut();
    loadOf(this.app).traffic.cut();
    await this.app.close();
  }
}

/** One connection, read as text. A reset shows as the text `RESET`. */
export class SpecClient {
  readonly socket: Socket;
  #text = '';
  #closed = false;
  #look: (() => void)[] = [];

  constructor(port: number) {
    this.socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    this.socket.on('data', (chunk) => this.#heard(chunk.toString('latin1')));
    this.socket.on('error', (error: NodeJS.ErrnoException) => this.#heard(error.code === 'ECONNRESET' ? 'RESET' : ''));
    this.socket.on('end', () => this.socket.destroy());
    this.socket.on('close', () => {
      this.#closed = true;
      this.#heard('');
    });
  }

  #heard(text: string): void {
    this.#text += text;
    for (const look of this.#look.splice(0)) look();
  }

  write(text: string | Uint8Array): void {
    this.socket.write(text);
  }

  /** Everything that came until the connection closed. */
  async all(): Promise<string> {
    while (!this.#closed) await new Promise<void>((resolve) => this.#look.push(resolve));
    return this.#text;
  }

  /** What came so far, as soon as it matches. */
  async until(pattern: RegExp): Promise<string> {
    while (!pattern.test(this.#text)) {
      if (this.#closed) throw new Error(`closed without ${pattern}: ${this.#text}`);
      await new Promise<void>((resolve) => this.#look.push(resolve));
    }
    return this.#text;
  }

  cut(): void {
    this.socket.destroy();
  }
}

class Gate {
  #opened = Promise.withResolvers<void>();
  #inside = 0;
  #look: (() => void)[] = [];

  get inside(): number {
    return this.#inside;
  }

  reset(): void {
    [this.#opened, this.#inside] = [Promise.withResolvers(), 0];
  }

  async pass(): Promise<void> {
    this.#inside++;
    for (const look of this.#look.splice(0)) look();
    await this.#opened.promise;
  }

  async reached(count: number): Promise<void> {
    while (this.#inside < count) await new Promise<void>((resolve) => this.#look.push(resolve));
  }

  open(): void {
    this.#opened.resolve();
  }
}

const gate = new Gate();
export const LARGE_BYTES = 16 * 1024 * 1024;
const shared = Buffer.alloc(LARGE_BYTES, '1');

@Controller()
class SpecController {
  @Get('livez')
  live(@Res() reply: FastifyReply) {
    return send(reply, json('{"status":"ok"}'));
  }

  @Get('large')
  large(@Res() reply: FastifyReply) {
    return send(reply, json('x'.repeat(LARGE_BYTES)));
  }

  @Get('slow')
  async slow(@Res() reply: FastifyReply) {
    await gate.pass();
    return send(reply, json('"late"'));
  }

  @Get('slow/large')
  async slowLarge(@Res() reply: FastifyReply) {
    await gate.pass();
    return send(reply, json('x'.repeat(LARGE_BYTES)));
  }

  @Get('slow/shared')
  async slowShared(@Res() reply: FastifyReply) {
    await gate.pass();
    return sendJson(reply, shared);
  }

  @Post('slow')
  async slowPost(@Req() request: FastifyRequest, @Res() reply: FastifyReply) {
    await gate.pass();
    return send(reply, json(`${bodyOf(request).length}`));
  }

  @Get('things/:id')
  get(@Param('id') id: string, @Res() reply: FastifyReply) {
    return send(reply, json(JSON.stringify({ id })));
  }

  @Post('things/:id')
  post(@Req() request: FastifyRequest, @Res() reply: FastifyReply) {
    return send(reply, json(`${bodyOf(request).length}`));
  }

  @Post('small')
  small(@Req() request: FastifyRequest, @Res() reply: FastifyReply) {
    return send(reply, json(`${bodyOf(request).length}`));
  }
}

@Module({ controllers: [SpecController] })
class SpecModule {}
