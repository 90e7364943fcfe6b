import { Fault } from '@tidemark/libs-kernel';
import { parseInt64 } from './int64.ts';
import { decodeUtf8 } from './json-read.ts';
import { JsonScanner, OPEN_BRACE, OPEN_BRACKET } from './json-scanner.ts';
import type { Op } from './op.ts';
import { OpDraft } from './op-draft.ts';

/** The answer to a pull, as a client reads it. */
export interface OpPage {
  readonly ops: readonly Op[];
  readonly next: bigint;
}

/**
 * The inverse of encodePage, lossless and for any number of ops. Other members are ignored. Faults: 'malformed' for what is no JSON,
 * 'invalid' for what is no page.
 */
export function decodePage(body: Uint8Array): OpPage {
  const scan = new JsonScanner(decodeUtf8(body));
  let ops: Op[] | undefined;
  let next: bigint | null = null;
  demand(scan, OPEN_BRACE, 'a page must be an object');
  for (let more = scan.enter(OPEN_BRACE); more; more = scan.more(OPEN_BRACE)) {
    const key = scan.key();
    if (key === 'ops') ops = readOps(scan);
    else if (key === 'next') next = parseInt64(scan.source());
    else scan.skip();
  }
  scan.end();
  if (ops === undefined || next === null) throw new Fault('invalid', 'a page must have ops and a 64-bit next');
  return { ops, next };
}

function readOps(scan: JsonScanner): Op[] {
  const ops: Op[] = [];
  demand(scan, OPEN_BRACKET, 'ops: expected an array');
  for (let more = scan.enter(OPEN_BRACKET); more; more = scan.more(OPEN_BRACKET)) ops.push(readOp(scan, ops.length));
  return ops;
}

function readOp(scan: JsonScanner, index: number): Op {
  const draft = new OpDraft(scan);
  demand(scan, OPEN_BRACE, `ops[${index}]: expected an object`);
  for (let more = scan.enter(OPEN_BRACE); more; more = scan.more(OPEN_BRACE)) draft.readMember();
  const problem = draft.problem();
  if (problem !== null) throw new Fault('invalid', `ops[${index}]${problem}`);
  return draft.op();
}

/** What is no JSON at all is refused as such first. */
function demand(scan: JsonScanner, open: number, problem: string): void {
  if (scan.peek() === open) return;
  scan.skip();
  throw new Fault('invalid', problem);
}
