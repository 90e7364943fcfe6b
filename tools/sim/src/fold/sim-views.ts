import { Fault } from '@tidemark/libs-kernel';
import type { ViewChange, Views } from '@tidemark/libs-views-contract';
import type { Scheduler } from '../scheduler/scheduler.ts';
import type { SimProcess } from '../scheduler/sim-process.ts';
import type { ViewsWeather } from './fold-weather.ts';

/** Documents of this kind are taken by no views. */
export const POISON_KIND = 'poison';

/** Poisoned, and otherwise as they are. */
export function poisoned(views: Views): Views {
  return { ...views, apply: partly(views, () => null) as unknown as Views['apply'] };
}

type Call = (...args: never[]) => Promise<unknown>;

/** A database of views as one process meets it: far away, slow, and out of order now and then. What a dead process sent still arrives. */
export function simViews(
  views: Views,
  process: SimProcess,
  scheduler: Scheduler,
  weather: () => ViewsWeather,
  touched: (stream: string) => void,
): Views {
  let calls = 0;
  const cut = (length: number) => (scheduler.chance(weather().partial) ? scheduler.choices.pick(length) : null);
  return new Proxy(views, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      const label = `${process.name} views.${String(name)}`;
      const work = name === 'apply' ? partly(target, cut) : (member.bind(target) as Call);
      return (...args: never[]) => {
        const done = () => work(...args).finally(() => touched(args[0] as unknown as string));
        return sent(done, `${label} ${++calls}`, process, scheduler, weather());
      };
    },
  });
}

function sent(
  work: () => Promise<unknown>,
  label: string,
  process: SimProcess,
  scheduler: Scheduler,
  { callMs, refused, lostAnswer }: ViewsWeather,
): Promise<unknown> {
  if (!process.alive) return new Promise(() => {});
  return new Promise((resolve, reject) => {
    const answer = (settle: () => void) => void process.wake(scheduler.between(callMs), `${label} is answered`, settle);
    scheduler.wake(scheduler.between(callMs), `${label} arrives`, () => {
      if (scheduler.chance(refused)) return answer(() => reject(new Fault('unavailable', 'the views are busy')));
      void work().then(
        (value) =>
          answer(() => {
            if (scheduler.chance(lostAnswer)) reject(new Fault('unknown_outcome', 'the answer was lost'));
            else resolve(value);
          }),
        (thrown: unknown) => answer(() => reject(thrown)),
      );
    });
  });
}

/** Some of an apply may be done before it fails; one with a poisoned change always fails, after what stands before that. */
function partly(views: Views, cut: (length: number) => number | null): Call {
  const apply = async (stream: string, epoch: number, changes: readonly ViewChange[]) => {
    const poison = changes.findIndex(({ kind }) => kind === POISON_KIND);
    const cutAt = cut(changes.length);
    const end = Math.min(poison < 0 ? Infinity : poison, cutAt ?? Infinity, changes.length);
    await views.apply(stream, epoch, changes.slice(0, end));
    if (poison >= 0 && end === poison)
      throw new Fault('too_large', 'document "poison": no views take it', { outcome: 'partly' });
    if (cutAt !== null) throw new Fault('unavailable', 'the connection broke', { outcome: 'partly' });
  };
  return apply as unknown as Call;
}
