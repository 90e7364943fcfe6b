import {
  type CancellationReason,
  GetItemCommand,
  type QueryCommandInput,
  type TransactGetItem,
  type TransactWriteItem,
  TransactWriteItemsCommand,
  type TransactWriteItemsCommandInput,
} from '@aws-sdk/client-dynamodb';
import type { DynamoClient } from '@tidemark/libs-op-store-dynamodb';
import type { Wrap } from '../world.ts';

/**
 * A mutant of the store is the store with a client that rewrites what it says and hears, so that it behaves as if a rule were missing from it.
 * The code under test stays as it is.
 */
type Send = (command: unknown, options?: { readonly abortSignal?: AbortSignal }) => Promise<Record<string, unknown>>;

interface Sent {
  readonly constructor: { readonly name: string };
  readonly input: Record<string, unknown>;
}

export function rewriting(
  how: () => (
    send: Send,
    command: Sent,
    pass: () => Promise<Record<string, unknown>>,
  ) => Promise<Record<string, unknown>>,
): Wrap {
  return (client) => {
    const send = client.send.bind(client) as unknown as Send;
    const rewrite = how();
    const rewritten: Send = (command, options) => rewrite(send, command as Sent, () => send(command, options));
    return { send: rewritten } as unknown as DynamoClient;
  };
}

/** Rewrites every append round; `restore` gives the reasons of a cancellation the places that the store expects. */
export function rounds(
  rewrite: (items: readonly TransactWriteItem[]) => readonly TransactWriteItem[],
  restore: (
    reasons: readonly CancellationReason[],
    items: readonly TransactWriteItem[],
  ) => readonly CancellationReason[] = (reasons) => reasons,
): Wrap {
  return rewriting(() => async (send, command, pass) => {
    if (command.constructor.name !== 'TransactWriteItemsCommand') return pass();
    const input = command.input as unknown as TransactWriteItemsCommandInput;
    const items = input.TransactItems ?? [];
    try {
      return await send(new TransactWriteItemsCommand({ ...input, TransactItems: [...rewrite(items)] }));
    } catch (error) {
      const { CancellationReasons } = error as { CancellationReasons?: readonly CancellationReason[] };
      if (CancellationReasons !== undefined)
        Object.assign(error as object, { CancellationReasons: restore(CancellationReasons, items) });
      throw error;
    }
  });
}

/** Leaves actions out of rounds, as if nothing were ever wrong with them. */
export function without(isLeftOut: (item: TransactWriteItem) => boolean): Wrap {
  return rounds(
    (items) => items.filter((item) => !isLeftOut(item)),
    (reasons, items) => {
      const rest = [...reasons];
      return items.map((item) => (isLeftOut(item) ? { Code: 'None' } : (rest.shift() as CancellationReason)));
    },
  );
}

/** Answers the snapshots of a reader in another way: given its holes, whether each holds an op; the witness is said to be there. */
export function snapshots(
  isThere: (send: Send, holes: readonly TransactGetItem[]) => Promise<readonly boolean[]>,
): Wrap {
  return rewriting(() => async (send, command, pass) => {
    if (command.constructor.name !== 'TransactGetItemsCommand') return pass();
    const gets = command.input['TransactItems'] as readonly TransactGetItem[];
    const holes = await isThere(send, gets.slice(0, -1));
    return { Responses: [...holes, true].map((there, i) => (there ? { Item: gets[i]?.Get?.Key } : {})) };
  });
}

/** GetItem of each. */
export const oneByOne = async (send: Send, holes: readonly TransactGetItem[]): Promise<readonly boolean[]> => {
  const found: boolean[] = [];
  for (const { Get } of holes) {
    const { Item } = await send(new GetItemCommand({ TableName: Get?.TableName, Key: Get?.Key, ConsistentRead: true }));
    found.push(Item !== undefined);
  }
  return found;
};

/** Answers the Query for a stream's newest op "none", from its second time on. */
export const floorOnce: Wrap = rewriting(() => {
  let floored = false;
  return async (_send, command, pass) => {
    const isTop =
      command.constructor.name === 'QueryCommand' &&
      (command.input as unknown as QueryCommandInput).ScanIndexForward === false;
    if (!isTop) return pass();
    if (floored) return { Items: [], Count: 0 };
    floored = true;
    return pass();
  };
});
