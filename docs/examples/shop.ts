import type { Declaration } from '@tidemark/libs-fold';

/** Products of a shop: what the catalogue of tasks.json has no use for. */
export default {
  version: 1,
  domains: {
    shop: {
      revision: 0,
      documents: {
        product: {
          name: 'last',
          price: { merge: 'last', indexed: true },
          highest_bid: 'last',
          sold: 'counter',
          tags: 'grow_only',
        },
      },
      ops: [
        {
          when: { target_kind: 'product', op_type: 'set', field: 'name' },
          read: { value: 'text' },
          writes: [{ kind: 'product', id: '{target_id}', set: { name: '{value}' } }],
        },
        // A fixed price outranks every other, also a later one.
        {
          when: { target_kind: 'product', op_type: 'set', field: 'price' },
          read: { value: 'integer' },
          writes: [{ kind: 'product', id: '{target_id}', rank: 0, set: { price: '{value}' } }],
        },
        {
          when: { target_kind: 'product', op_type: 'fix', field: 'price' },
          read: { value: 'integer' },
          writes: [{ kind: 'product', id: '{target_id}', rank: 1, set: { price: '{value}' } }],
        },
        // The highest amount stays, whoever came first; of equal amounts the last.
        {
          when: { target_kind: 'product', op_type: 'bid' },
          read: { value: { json: { amount: 'integer', terms: 'json?', agent: 'integer?' } } },
          writes: [
            {
              kind: 'product',
              id: '{target_id}',
              rank: '{value.amount}',
              set: {
                highest_bid: {
                  amount: '{value.amount}',
                  bidder: '{author}',
                  terms: '{value.terms}',
                  agent: '{value.agent}',
                },
              },
            },
          ],
        },
        // How many the till (the op's site) has sold up to now: a total, so that an op that comes twice counts once.
        {
          when: { target_kind: 'product', op_type: 'count', field: 'sold' },
          read: { value: 'integer' },
          writes: [{ kind: 'product', id: '{target_id}', count: { sold: '{value}' } }],
        },
        {
          when: { target_kind: 'product', op_type: 'tag' },
          read: { value: 'text' },
          writes: [{ kind: 'product', id: '{target_id}', add: { tags: '{value}' } }],
        },
      ],
    },
  },
} satisfies Declaration;
