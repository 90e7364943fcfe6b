import 'reflect-metadata';
import { Controller, Get, Module, Post, Req, Res } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ManualTime } from '@tidemark/libs-kernel/testing';
import { json, send } from './answer.ts';
import { createHttp } from './http.ts';
import { createLog } from './log.ts';
import { Metrics } from './metrics.ts';
import { contextFields } from './request-context.ts';
import { systemClock } from './system.ts';
import { type TraceContext, newTrace } from './trace-context.ts';
import { type SpanExport, Tracing, traceparentFor } from './tracing.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const TRACEPARENT = `00-${TRACE}-00f067aa0ba902b7-01`;
const log = createLog('test', 'silent');

interface Made {
  readonly name: string;
  readonly parent: string | null;
  readonly trace: TraceContext;
  ended: string;
}

/** Keeps spans instead of sending them. */
class KeptSpans implements SpanExport {
  readonly made: Made[] = [];

  start(name: string, parent: TraceContext | null) {
    const trace = { ...newTrace(), ...(parent && { traceId: parent.traceId }), sampled: true };
    const made: Made = { name, parent: parent?.spanId ?? null, trace, ended: 'open' };
    this.made.push(made);
    return { trace, end: (failed: boolean) => void (made.ended = failed ? 'failed' : 'done') };
  }

  async close() {}
}

let tracing: Tracing;

@Controller()
class ThingsController {
  @Get('things')
  get(@Req() request: FastifyRequest, @Res() reply: FastifyReply) {
    return send(reply, json(JSON.stringify({ ...contextFields(), handedOn: traceparentFor(request) })));
  }

  @Post('things')
  async post(@Res() reply: FastifyReply) {
    const inside = await tracing.span('work', async () => contextFields());
    return send(reply, json(JSON.stringify({ ...contextFields(), inside })));
  }

  @Get('broken')
  broken() {
    throw new Error('broken');
  }

  @Get('livez')
  live(@Res() reply: FastifyReply) {
    return send(reply, json('{}'));
  }
}

@Module({ controllers: [ThingsController] })
class ThingsModule {}

let app: NestFastifyApplication;
afterEach(() => app.close());

async function start(spans: SpanExport | null): Promise<void> {
  tracing = new Tracing(spans, log);
  const parts = { log, metrics: new Metrics('test'), clock: systemClock, stopping: new AbortController().signal };
  app = await createHttp({ module: ThingsModule }, { bodyBytesMax: 1_000_000 }, { ...parts, gate: { tracing } });
  await app.listen(0, '127.0.0.1');
}

async function ask(path: string, headers: Record<string, string> = {}, body?: string | ReadableStream) {
  const init = body === undefined ? { headers } : { headers, method: 'POST', body, duplex: 'half' as const };
  const answer = await fetch(`${await app.getUrl()}${path}`, init);
  return (await answer.json()) as Record<string, string>;
}

// kills: tracing.ts: return context?.handedOn === true => return context !== undefined
test('OPS-1: a request belongs to the trace that it names, else to a new one that is not handed on', async () => {
  await start(null);
  const named = await ask('/things', { traceparent: TRACEPARENT, 'x-request-id': 'r1' });
  expect(named).toEqual({ request_id: 'r1', trace_id: TRACE, handedOn: TRACEPARENT });
  const [one, other] = [await ask('/things'), await ask('/things', { traceparent: 'junk' })];
  expect(one.trace_id).toMatch(/^[0-9a-f]{32}$/);
  expect(other.trace_id).not.toBe(one.trace_id);
  expect([one.handedOn, other.handedOn]).toEqual([undefined, undefined]);
});

// kills: request-context.ts: storage.run(request.workContext, done); => done();
test('OPS-1: the context is there when the body has come in', async () => {
  await start(null);
  for (const body of ['{}', 'x'.repeat(900_000)])
    expect(await ask('/things', { traceparent: TRACEPARENT }, body)).toMatchObject({ trace_id: TRACE });
  const body = new Blob(['x'.repeat(100_000)]).stream();
  expect(await ask('/things', { traceparent: TRACEPARENT }, body)).toMatchObject({ trace_id: TRACE });
});

// kills: tracing.ts: context.handedOn ? context.trace : null, 'server' => null, 'server'
test('OPS-1: with an export a request is a span of its trace, and what is done for it a child', async () => {
  const spans = new KeptSpans();
  await start(spans);
  const answer = await ask('/things', { traceparent: TRACEPARENT }, '{}');
  expect(answer.inside).toMatchObject({ trace_id: TRACE });
  const [server, work] = spans.made;
  expect(server).toMatchObject({ name: 'POST /things', parent: '00f067aa0ba902b7', trace: { traceId: TRACE } });
  expect(work).toMatchObject({ name: 'work', parent: server?.trace.spanId, ended: 'done' });
});

test('OPS-1: a trace that begins here is handed on when it is exported; a span tells a failure', async () => {
  const spans = new KeptSpans();
  await start(spans);
  const answer = await ask('/things');
  const { trace } = spans.made[0] as Made;
  expect(answer.handedOn).toBe(`00-${trace.traceId}-${trace.spanId}-01`);
  await ask('/broken');
  await app.close();
  expect(spans.made.map(({ name, ended }) => [name, ended])).toEqual([
    ['GET /things', 'done'],
    ['GET /broken', 'failed'],
  ]);
  await start(null);
});

test('OPS-1: probes are no spans', async () => {
  const spans = new KeptSpans();
  await start(spans);
  await ask('/livez');
  expect(spans.made).toEqual([]);
});

describe('work that continues the traces of many', () => {
  beforeEach(() => start(null));
  const other = TRACEPARENT.replace('4b', '5c');

  test('OPS-1: is a span of each, and its result or error comes through', async () => {
    const spans = new KeptSpans();
    const traced = new Tracing(spans, log);
    expect(await traced.span('fold', async () => 7, [TRACEPARENT, other, 'junk'])).toBe(7);
    const failing = traced.span('fold', () => Promise.reject(new Error('no')), [TRACEPARENT]);
    await expect(failing).rejects.toThrow('no');
    expect(spans.made.map(({ trace, ended }) => [trace.traceId, ended])).toEqual([
      [TRACE, 'done'],
      [TRACE.replace('4b', '5c'), 'done'],
      [TRACE, 'failed'],
    ]);
  });

  test('OPS-1: has the context of one trace, and of none when there are several', async () => {
    const traced = new Tracing(null, log);
    expect(await traced.span('fold', async () => contextFields(), [TRACEPARENT])).toEqual({ trace_id: TRACE });
    expect(await traced.span('fold', async () => contextFields(), [TRACEPARENT, other])).toEqual({});
    expect(await traced.span('fold', async () => contextFields())).toEqual({});
  });
});

test('OPS-3: a collector that does not answer does not hold the shutdown', async () => {
  await start(null);
  const time = new ManualTime();
  const hanging: SpanExport = { start: new KeptSpans().start, close: () => new Promise(() => {}) };
  const closed = new Tracing(hanging, log).close(time);
  time.advance(1500);
  await closed;
});
