import { type TransactGetItem, TransactGetItemsCommand, type TransactWriteItem } from '@aws-sdk/client-dynamodb';
import { addEraCase, plainAt1, plainAt49, swarmOfOne } from '../cases/random-cases.ts';
import type { RandomCase } from '../cases/random-case.ts';
import type { SmallCase } from '../cases/small-case.ts';
import { firstItemReader, longPageReader, smallCase } from '../cases/small-cases.ts';
import type { Wrap } from '../world.ts';
import { floorOnce, oneByOne, rewriting, rounds, snapshots, without } from './rewriting.ts';

/** A rule taken away, the case that notices, and what the checkers say. */
export interface SafetyMutant {
  readonly name: string;
  /** With the mutant in it; for mutants that are cases of their own, the mutated case. */
  readonly wrap?: Wrap;
  readonly small?: SmallCase;
  readonly random?: RandomCase;
  readonly caught: RegExp;
}

const isCheck = ({ ConditionCheck }: TransactWriteItem) => ConditionCheck !== undefined;
const isClaim = ({ Put }: TransactWriteItem) => Put?.Item?.['op_seq'] !== undefined;

const inSmall = (name: string, wrap: Wrap, caseName: string, caught: RegExp): SafetyMutant => {
  const small = smallCase(caseName);
  return { name, wrap, small, caught };
};
const inRandom = (name: string, wrap: Wrap, random: RandomCase, caught: RegExp): SafetyMutant => ({
  name,
  wrap,
  random,
  caught,
});

/** Caught by what a reader or a client was told, compared with what is stored. */
export const safetyMutants: readonly SafetyMutant[] = [
  {
    name: 'seq taken by ADD before the write',
    random: addEraCase('complete'),
    caught: /RLY-3/,
  },
  inSmall(
    'hole crossed without a look',
    snapshots(async (_, holes) => holes.map(() => false)),
    'one-round-impl',
    /RLY-3/,
  ),
  inSmall('hole judged by GetItem, then the counter', snapshots(oneByOne), 'one-round-impl', /RLY-3/),
  inSmall('hole judged without a witness', withoutWitness(), 'one-round-weak', /RLY-3/),
  {
    name: "contiguity from the page's first item",
    small: firstItemReader,
    caught: /RLY-3/,
  },
  { name: 'page cut one too far', small: longPageReader, caught: /RLY-3/ },
  inSmall('floor forgotten after a lost round', floorOnce, 'no-counter-impl', /RLY-3/),
  inSmall('floor forgotten after a lost counter', floorOnce, 'counter-lost-impl', /RLY-3/),
  inRandom('token reused', reusedToken(), swarmOfOne, /wedged|RLY-6/),
  inSmall('answered before the commit', answeredEarly(), 'one-round-impl', /RLY-6/),
  inSmall('no claims', without(isClaim), 'shared-id-impl', /RLY-5/),
  inRandom('one op twice in a round', rounds(lastOpTwice), swarmOfOne, /wedged/),
  { name: 'plain reader beside rounds of 49', random: plainAt49, caught: /RLY-3/ },
  inRandom('no predecessor check beside a plain reader at 1', without(isCheck), plainAt1, /RLY-3/),
  inRandom(
    'counter set whatever it is, beside an ADD-era relay',
    rounds(unconditional),
    addEraCase('mixed'),
    /counter moved back|RLY-6|wedged/,
  ),
];

function withoutWitness(): Wrap {
  return rewriting(() => async (send, command, pass) => {
    if (command.constructor.name !== 'TransactGetItemsCommand') return pass();
    const gets = command.input['TransactItems'] as readonly TransactGetItem[];
    const { Responses = [] } = await send(new TransactGetItemsCommand({ TransactItems: gets.slice(0, -1) }));
    return { Responses: [...(Responses as object[]), { Item: gets.at(-1)?.Get?.Key }] };
  });
}

function reusedToken(): Wrap {
  return rewriting(() => (_send, command, pass) => {
    if (command.constructor.name === 'TransactWriteItemsCommand')
      command.input['ClientRequestToken'] = 'always the same';
    return pass();
  });
}

function answeredEarly(): Wrap {
  return rewriting(() => async (_send, command, pass) => {
    if (command.constructor.name !== 'TransactWriteItemsCommand') return pass();
    void pass().catch(() => {});
    return {};
  });
}

/** The last op once more, behind itself. */
function lastOpTwice(items: readonly TransactWriteItem[]): readonly TransactWriteItem[] {
  const claim = items.findLast(isClaim);
  return claim === undefined ? items : [...items, claim];
}

function unconditional(items: readonly TransactWriteItem[]): readonly TransactWriteItem[] {
  return items.map((item) => {
    if (item.Update === undefined) return item;
    const { Key, TableName, UpdateExpression, ExpressionAttributeValues } = item.Update;
    return { Update: { Key, TableName, UpdateExpression, ExpressionAttributeValues } };
  });
}
