/** Tells a tracing system which work was done in which trace. Traces are named by W3C traceparents. */
export interface Tracer {
  /**
   * Runs the work and gives its result or error through. It becomes a span of every trace that `parents` name; without parents, of the
   * trace of the request that it is done for. Tracing never fails the work.
   */
  span<T>(name: string, work: () => Promise<T>, parents?: readonly string[]): Promise<T>;
}

export const untraced: Tracer = { span: (_name, work) => work() };
