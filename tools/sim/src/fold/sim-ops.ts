import type { Reducer } from '@tidemark/libs-fold';
import type { SequencedOp } from '@tidemark/libs-op-store-contract';
import type { Op } from '@tidemark/libs-wire';
import type { Choices } from '../scheduler/choices.ts';
import { anOp } from '../some-op.ts';
import { POISON_KIND } from './sim-views.ts';

const DOCUMENTS = 4;
const TAGS = 6;

/** An op of any sort: registers of both rules, adds and removes of a set in any order, unknown shapes, and what no views take. */
export function randomOp(choices: Choices, opId: string, poisoned: boolean): Op {
  const version = { lamport: BigInt(1 + choices.pick(20)), site: BigInt(choices.pick(3)) };
  const common = { opId, ...version, domain: 'sim', targetKind: 'doc', targetId: `d${choices.pick(DOCUMENTS)}` };
  if (poisoned) return anOp({ ...common, targetKind: POISON_KIND, field: 'title', opType: 'set', value: '1' });
  const tag = `t${choices.pick(TAGS)}`;
  switch (choices.pick(8)) {
    case 0:
      return anOp({ ...common, field: 'owner', opType: 'first', value: JSON.stringify(opId) });
    case 1:
    case 2:
      return anOp({ ...common, field: 'labels', opType: 'add', value: JSON.stringify(tag) });
    case 3:
      return anOp({
        ...common,
        field: 'labels',
        opType: 'remove',
        value: JSON.stringify(tag),
        extra: `{"tag":"${tag}"}`,
      });
    case 4:
      return anOp({ ...common, field: 'later', opType: 'set', value: JSON.stringify(opId) });
    case 5:
      return anOp({ ...common, domain: 'unknown', field: 'title', opType: 'set', value: '1' });
    default:
      return anOp({ ...common, field: 'title', opType: 'set', value: JSON.stringify(opId) });
  }
}

/** The newest revision folds one more field than the one before. */
export function simReducer(revision: number): Reducer {
  return {
    domain: 'sim',
    revision,
    reduce: ({ seq, op }: SequencedOp) => {
      const { targetKind: kind, targetId: id, field, opType, value, lamport, site } = op;
      if (value === null) return { kind: 'refused', reason: 'no value' };
      if (field === 'later' && revision < 1) return { kind: 'not_folded' };
      const cell = { kind, id, field };
      const version = { rank: 0n, lamport, site, seq };
      if (field === 'labels') {
        const member = JSON.parse(value) as string;
        const tagged = { ...cell, shape: 'set', member } as const;
        return opType === 'remove'
          ? { kind: 'folded', changes: [{ ...tagged, effect: 'remove', seq }] }
          : { kind: 'folded', changes: [{ ...tagged, effect: 'register', value, rule: 'lower', version }] };
      }
      const rule = opType === 'first' ? 'lower' : 'higher';
      const register = { ...cell, shape: 'register', member: '', effect: 'register', value, rule, version } as const;
      return { kind: 'folded', changes: [register] };
    },
  };
}
