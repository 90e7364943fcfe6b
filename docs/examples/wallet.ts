import type { Reducer } from '@tidemark/libs-fold';

/** `op_type` "pay", `target_id` the payer, `field` the payee, `value` the amount in cents. */
const wallet: Reducer = {
  domain: 'wallet',
  revision: 0,
  reduce({ seq, op }) {
    if (op.targetKind !== 'account' || op.opType !== 'pay') return { kind: 'not_folded' };
    if (!/^[1-9]\d{0,14}$/.test(op.value ?? '')) return { kind: 'refused', reason: 'the amount is no number of cents' };
    if (op.targetId === op.field) return { kind: 'refused', reason: 'payer and payee are one' };
    const version = { rank: 0n, lamport: op.lamport, site: op.site, seq };
    // A member of the counter per op: folding the op again writes the same member, so nothing is counted twice.
    const share = (id: string, value: string) =>
      ({
        effect: 'register',
        kind: 'account',
        id,
        field: 'balance',
        shape: 'counter',
        member: op.opId,
        value,
        rule: 'lower',
        version,
      }) as const;
    return { kind: 'folded', changes: [share(op.targetId, `-${op.value}`), share(op.field, `${op.value}`)] };
  },
};

export default { reducers: [wallet] };
