import { Fault, OP_EXTRA_MEMBERS_MAX, PUSH_EXTRA_MEMBERS_MAX, PUSH_OPS_MAX } from '@tidemark/libs-kernel';
import { decodeUtf8 } from './json-read.ts';
import { JsonScanner, OPEN_BRACE, OPEN_BRACKET } from './json-scanner.ts';
import type { Op } from './op.ts';
import { OpDraft } from './op-draft.ts';

/**
 * The ops of a push body, straight from the text. A body that is no JSON is 'malformed' (400) whatever else is wrong with it; then more
 * than PUSH_OPS_MAX ops are 'too_large' (413), whatever they hold; then what comes first: a thing of a wrong shape is 'invalid' (422), more
 * than PUSH_EXTRA_MEMBERS_MAX unknown members in all are 'too_large': fewer ops at a time have room for them.
 */
export function decodePush(body: Uint8Array): Op[] {
  const scan = new JsonScanner(decodeUtf8(body));
  const push = new PushReader(scan);
  push.read();
  scan.end();
  return push.result();
}

class PushReader {
  readonly #scan: JsonScanner;
  readonly #ops: Op[] = [];
  #count = 0;
  #given = false;
  #extraLeft = PUSH_EXTRA_MEMBERS_MAX;
  #problem: string | null = null;

  constructor(scan: JsonScanner) {
    this.#scan = scan;
  }

  read(): void {
    const scan = this.#scan;
    if (scan.peek() !== OPEN_BRACE) return this.#skipWrong('expected an object');
    for (let more = scan.enter(OPEN_BRACE); more; more = scan.more(OPEN_BRACE)) {
      if (scan.key() === 'ops') this.#readOps();
      else scan.skip();
    }
    if (!this.#given) this.#note('ops: missing');
  }

  result(): Op[] {
    if (this.#count > PUSH_OPS_MAX)
      throw new Fault('too_large', `ops: ${this.#count}, and ${PUSH_OPS_MAX} is the most`);
    if (this.#extraLeft < 0)
      throw new Fault('too_large', `ops: more than ${PUSH_EXTRA_MEMBERS_MAX} unknown members in all`);
    if (this.#problem !== null) throw new Fault('invalid', this.#problem);
    return this.#ops;
  }

  #readOps(): void {
    const scan = this.#scan;
    if (this.#given) this.#note('ops: given twice');
    this.#given = true;
    if (scan.peek() !== OPEN_BRACKET) return this.#skipWrong('ops: expected an array');
    for (let more = scan.enter(OPEN_BRACKET); more; more = scan.more(OPEN_BRACKET)) {
      this.#count++;
      // After the first problem, or one op or member too many, the rest only has to be JSON.
      if (this.#problem !== null || this.#extraLeft < 0 || this.#count > PUSH_OPS_MAX) scan.skip();
      else if (scan.peek() === OPEN_BRACE) this.#readOp();
      else this.#skipWrong(`ops[${this.#count - 1}]: expected an object`);
    }
  }

  #readOp(): void {
    const draft = new OpDraft(this.#scan, OP_EXTRA_MEMBERS_MAX);
    for (let more = this.#scan.enter(OPEN_BRACE); more; more = this.#scan.more(OPEN_BRACE)) draft.readMember();
    this.#extraLeft -= draft.extraCount;
    if (this.#extraLeft < 0) return;
    const problem = draft.problem();
    if (problem === null) this.#ops.push(draft.op());
    else this.#note(`ops[${this.#count - 1}]${problem}`);
  }

  #skipWrong(problem: string): void {
    this.#note(problem);
    this.#scan.skip();
  }

  #note(problem: string): void {
    this.#problem ??= problem;
  }
}
