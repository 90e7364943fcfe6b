interface Sender {
  send(command: unknown, options?: unknown): Promise<unknown>;
}

/** A process as its clients see it: once it is dead, nothing that was sent is answered any more, though it arrives. */
export class SpecLife {
  isDead = false;
  readonly #never = new Promise<never>(() => {});
  #open = 0;
  #idle = Promise.withResolvers<void>();

  /** The client as this process uses it. */
  client<Client>(client: Client): Client {
    const { send } = { send: (command: unknown, options: unknown) => (client as Sender).send(command, options) };
    const mortal: Sender = {
      send: (command, options) => {
        if (this.isDead) return this.#never;
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

  #answered<T>(answer: () => T): T | Promise<never> {
    if (--this.#open === 0) {
      this.#idle.resolve();
      this.#idle = Promise.withResolvers();
    }
    return this.isDead ? this.#never : answer();
  }
}
