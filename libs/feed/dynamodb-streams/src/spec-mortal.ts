interface Sender {
  send(command: unknown, options?: unknown): Promise<unknown>;
}

/** A process as its clients see it: once it is dead, nothing that was sent is answered any more, though it arrives. */
export class SpecLife {
  isDead = false;
  /** Answers that are held back, as for a process that does not run. */
  #held: (() => void)[] | null = null;
  /** Sees each call; one that it refuses is not sent. */
  onCall: (call: { readonly name: string; readonly input: never }) => void = () => {};
  readonly #never = new Promise<never>(() => {});
  #open = 0;
  #idle = Promise.withResolvers<void>();

  /** The client as this process uses it. */
  client<Client>(client: Client): Client {
    const { send } = { send: (command: unknown, options: unknown) => (client as Sender).send(command, options) };
    const mortal: Sender = {
      send: (command, options) => {
        if (this.isDead) return this.#never;
        if (this.#held !== null) return this.#later(() => mortal.send(command, options));
        const { name } = (command as object).constructor;
        try {
          this.onCall({ name: name.replace(/Command$/, ''), input: (command as { input: never }).input });
        } catch (thrown) {
          return Promise.reject(thrown);
        }
        this.#open++;
        return send(command, options).then(
          (answer) => this.#answered(() => answer),
          (thrown: unknown) =>
            this.#answered(() => {
              throw thrown;
            }),
        );
      },
    };
    return mortal as Client;
  }

  /** Resolves when no call is on its way, nor is made by what the last answers led to. */
  async answered(): Promise<void> {
    while (this.#open > 0) {
      await this.#idle.promise;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  #answered<T>(answer: () => T): T | Promise<never> | Promise<Awaited<T>> {
    if (--this.#open === 0) {
      this.#idle.resolve();
      this.#idle = Promise.withResolvers();
    }
    if (this.isDead) return this.#never;
    return this.#held === null ? answer() : this.#later(answer);
  }

  pause(): void {
    this.#held ??= [];
  }

  goOn(): void {
    const held = this.#held ?? [];
    this.#held = null;
    for (const wake of held) wake();
  }

  async #later<T>(work: () => T): Promise<Awaited<T>> {
    await new Promise<void>((resolve) => this.#held?.push(resolve));
    return await work();
  }
}
