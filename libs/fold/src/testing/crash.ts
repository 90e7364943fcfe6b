/** The end of a process in the middle of its calls to the ports that share this. */
export class Crash {
  /** The call at which the process ends; the calls after it do not happen either. */
  readonly at: number;
  readonly when: 'before' | 'after';
  calls = 0;
  over = false;

  constructor(at = Infinity, when: 'before' | 'after' = 'before') {
    this.at = at;
    this.when = when;
  }

  /** Whether this is the call, and that side of it. */
  strikes(when: 'before' | 'after'): boolean {
    this.over ||= this.calls === this.at && this.when === when;
    return this.over;
  }
}

/**
 * The port as a process sees it that ends in the `at`-th call: before its effect, or after it and before the answer. `seen` runs after
 * every effect, for checks of what another process would find then.
 */
export function crashing<Port extends object>(port: Port, crash: Crash, seen: () => Promise<void>): Port {
  return new Proxy(port, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      return async (...args: unknown[]) => {
        if (!crash.over) crash.calls++;
        if (crash.strikes('before')) throw new Error('the process ended');
        const answer: unknown = await Reflect.apply(member, target, args);
        await seen();
        if (crash.strikes('after')) throw new Error('the process ended');
        return answer;
      };
    },
  });
}
