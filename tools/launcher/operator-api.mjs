// A running service, asked over its HTTP routes for operators.
import { readFileSync } from 'node:fs';
import { Problem } from './terminal.mjs';

export class OperatorApi {
  #base;
  #headers;

  constructor(base, tokenFile) {
    this.#base = base.replace(/\/$/, '');
    this.#headers = tokenFile === undefined ? {} : { authorization: `Bearer ${readToken(tokenFile)}` };
  }

  /** The parsed answer; Problem with the service's reason. */
  async ask(method, place) {
    const url = this.#base + place;
    const answer = await fetch(url, { method, headers: this.#headers }).catch((error) => {
      throw new Problem(`cannot reach ${url}: ${error.cause?.message ?? error.message}`);
    });
    const body = await answer.text();
    if (answer.ok) return body === '' ? {} : JSON.parse(body, exactIntegers);
    throw new Problem(`${answer.status}: ${reasonIn(body)}`);
  }
}

/** Numbers of 64 bits keep their digits. */
function exactIntegers(_key, value, context) {
  return typeof value === 'number' && !Number.isSafeInteger(value) ? (context?.source ?? value) : value;
}

function reasonIn(body) {
  try {
    return JSON.parse(body).error ?? body;
  } catch {
    return body === '' ? 'no reason was told' : body;
  }
}

function readToken(file) {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    throw new Problem(`--token-file: ${error.message}`);
  }
}
