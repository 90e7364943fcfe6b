import { createHash } from 'node:crypto';
import { type DedupeCase, eachClaimed, keyOf } from './harness.ts';

/** Which keys are one and which are two. */
export const keyCases: readonly DedupeCase[] = [
  {
    title: 'I11: the same id in two tables is two ids',
    kills: 'tablesShareIds',
    run: async ({ open }) =>
      eachClaimed(
        await open(),
        ['clicks', 'orders'].map((table) => keyOf('a', table)),
      ),
  },
  {
    title: 'I11: the same id and table in two tenants are two ids, also when one name begins with the other',
    kills: 'tenantsShareIds',
    run: async ({ open }) =>
      eachClaimed(
        await open(),
        ['a', 'ab'].map((tenant) => keyOf('x', 'clicks', tenant)),
      ),
  },
  {
    title: 'DDP-1: tenant, table and id do not run into each other',
    kills: 'keyPartsRunTogether',
    run: async ({ open }) =>
      eachClaimed(await open(), [keyOf('c', 'ab', 't'), keyOf('bc', 'a', 't'), keyOf('c', 'b', 'ta')]),
  },
  {
    title: 'DDP-1: odd table names each have their own ids: NUL, slash, percent, hash, 0xFF, tab, empty',
    kills: 'cleansTableNames',
    run: async ({ open }) =>
      eachClaimed(
        await open(),
        ['\0', '/', '%2F', '%', '#', '\u00ff', '\t', ''].map((table) => keyOf('a', table)),
      ),
  },
  {
    title:
      'DDP-1: odd ids stay apart: a slash, its escaped form, an empty id, a space, digits with and without a fraction',
    kills: 'trimsIds',
    run: async ({ open }) =>
      eachClaimed(
        await open(),
        ['a/b', 'a%2Fb', 'a', ' a', 'a ', '', '1', '1.0', 'é', 'e\u0301'].map((id) => keyOf(id)),
      ),
  },
  {
    title: 'DDP-1: ids of 2,048 bytes that differ in the last byte stay apart',
    kills: 'cutsLongIds',
    run: async ({ open }) =>
      eachClaimed(
        await open(),
        ['a', 'b'].map((last) => keyOf('x'.repeat(2047) + last)),
      ),
  },
  {
    title: 'DDP-1: an id that looks like the hash of a long id is not that id',
    kills: 'hashesCollideWithIds',
    async run({ open }) {
      const long = 'x'.repeat(2048);
      const hash = createHash('sha256').update(long).digest('hex');
      await eachClaimed(
        await open(),
        [long, hash, `#${hash}`].map((id) => keyOf(id)),
      );
    },
  },
];
