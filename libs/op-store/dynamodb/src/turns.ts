/** One at a time for each name, in the order of asking. Holds nothing of a name that nobody uses. */
export class Turns {
  /** Of each name in use, who waits. */
  readonly #waiting = new Map<string, (() => void)[]>();

  /** Resolves to what ends the turn; to null when `unwanted` aborts before the turn comes. */
  take(name: string, unwanted?: AbortSignal): Promise<(() => void) | null> {
    if (unwanted?.aborted === true) return Promise.resolve(null);
    const end = (): void => this.#end(name);
    const waiting = this.#waiting.get(name);
    if (waiting === undefined) {
      this.#waiting.set(name, []);
      return Promise.resolve(end);
    }
    return new Promise((resolve) => {
      const begin = (): void => {
        unwanted?.removeEventListener('abort', leave);
        resolve(end);
      };
      const leave = (): void => {
        waiting.splice(waiting.indexOf(begin), 1);
        resolve(null);
      };
      waiting.push(begin);
      unwanted?.addEventListener('abort', leave, { once: true });
    });
  }

  #end(name: string): void {
    const next = this.#waiting.get(name)?.shift();
    if (next === undefined) this.#waiting.delete(name);
    else next();
  }
}
