export const usage = `npm run test:compose [-- options]     the three images on their real parts, with replicas killed under load

  --events N     events and ops that must be accepted; default 3000
  --minutes N    time for all of it after the images are built; default 15
  --help         this text

Needs a Docker engine. Where none answers, TIDEMARK_COMPOSE_TEST=1 starts one here (Debian, as root), with stand-ins for
the base images that it cannot pull; both are kept in TIDEMARK_CACHE (~/.cache/tidemark) for the next time.

Exit code: 0 it holds, 1 it does not, 2 skipped for want of an engine, 130 stopped by a signal.
Everything that was started is removed in every case.`;

export interface Arguments {
  readonly help: boolean;
  readonly events: number;
  readonly minutes: number;
}

/** The arguments, or what is wrong with them. */
export function readArguments(values: Readonly<Record<string, string | boolean | undefined>>): Arguments | string {
  const events = whole(values['events'], 3000, { min: 100, max: 1_000_000 });
  if (events === null) return '--events: expected a whole number from 100 to 1000000';
  const minutes = whole(values['minutes'], 15, { min: 1, max: 600 });
  if (minutes === null) return '--minutes: expected a whole number from 1 to 600';
  return { help: values['help'] === true, events, minutes };
}

function whole(
  given: string | boolean | undefined,
  otherwise: number,
  { min, max }: { min: number; max: number },
): number | null {
  if (given === undefined) return otherwise;
  if (typeof given !== 'string' || !/^\d+$/.test(given)) return null;
  const value = Number(given);
  return value >= min && value <= max ? value : null;
}
