/** A value as DynamoDB writes it: `{"S":"x"}`. */
export type Attribute = Readonly<Record<string, unknown>>;
export type Item = Readonly<Record<string, Attribute>>;

/** One action as a policy names it, and what it writes, if it writes. */
export interface Action {
  readonly name: string;
  readonly table: string;
  /** Of an action that names one item: the item, or its key. */
  readonly item?: Item;
}

/** One request to DynamoDB. */
export interface Call {
  /** Such as `TransactWriteItems`. */
  readonly name: string;
  readonly body: Readonly<Record<string, unknown>>;
  /** What is authorised one by one: a transaction's or a batch's own, else the call itself. */
  readonly actions: readonly Action[];
  readonly isTransaction: boolean;
  /** What its writes cost. */
  readonly costs: readonly Cost[];
}

export interface Cost {
  readonly action: Action;
  /** Write units. */
  readonly units: number;
}

interface ItemRequest {
  readonly TableName: string;
  readonly Item?: Item;
  readonly Key?: Item;
}

/** Null for what is no DynamoDB request, such as a look whether the server is there. */
export function readCall(target: string | undefined, body: Uint8Array): Call | null {
  const name = /^DynamoDB\w*_\d+\.(\w+)$/.exec(target ?? '')?.[1];
  if (name === undefined) return null;
  return callOf(name, JSON.parse(Buffer.from(body).toString()) as Record<string, unknown>);
}

export function callOf(name: string, body: Readonly<Record<string, unknown>>): Call {
  return { name, body, actions: actionsOf(name, body), isTransaction: name.startsWith('Transact'), costs: [] };
}

const TRANSACTED: Readonly<Record<string, string>> = {
  Put: 'PutItem',
  Update: 'UpdateItem',
  Delete: 'DeleteItem',
  ConditionCheck: 'ConditionCheckItem',
  Get: 'GetItem',
};

function actionsOf(name: string, body: Readonly<Record<string, unknown>>): Action[] {
  if (name.startsWith('Transact')) {
    const items = body['TransactItems'] as readonly Readonly<Record<string, ItemRequest>>[];
    return items.flatMap((one) =>
      Object.entries(one).map(([kind, asked]) => actionOf(TRANSACTED[kind] ?? kind, asked)),
    );
  }
  if (name === 'BatchGetItem' || name === 'BatchWriteItem') {
    return Object.entries(body['RequestItems'] as Readonly<Record<string, unknown>>).flatMap(([table, asked]) =>
      name === 'BatchGetItem' ? [{ name, table }] : batchWrites(table, asked as BatchWrite[]),
    );
  }
  return [actionOf(name, body as unknown as ItemRequest)];
}

interface BatchWrite {
  readonly PutRequest?: { readonly Item: Item };
  readonly DeleteRequest?: { readonly Key: Item };
}

function batchWrites(table: string, writes: readonly BatchWrite[]): Action[] {
  return writes.map(({ PutRequest, DeleteRequest }) => {
    const item = PutRequest?.Item ?? DeleteRequest?.Key;
    return { name: 'BatchWriteItem', table, ...(item !== undefined && { item }) };
  });
}

function actionOf(name: string, { TableName: table = '', Item, Key }: ItemRequest): Action {
  const item = Item ?? Key;
  return { name, table, ...(item !== undefined && { item }) };
}
