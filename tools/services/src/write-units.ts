import type { Action, Attribute, Call, Cost, Item } from './dynamodb-call.ts';

const WRITES = new Set(['PutItem', 'UpdateItem', 'DeleteItem', 'ConditionCheckItem', 'BatchWriteItem']);

/**
 * Write units as AWS bills them: one for each begun KB of an item, twice that in a transaction, for a ConditionCheck too; a cancelled
 * transaction costs as much as a stored one. Counted from the sizes of items, since nothing tells what a cancelled call cost. A check or an
 * update costs by the item that is there: remembered here when it came past and is larger than one KB, else taken for a small one.
 */
export class WriteUnits {
  readonly #bytes = new Map<string, number>();
  readonly #keyNames: (table: string) => Promise<readonly string[]>;

  constructor(keyNames: (table: string) => Promise<readonly string[]>) {
    this.#keyNames = keyNames;
  }

  async costs(call: Call): Promise<Cost[]> {
    const writes = call.actions.filter(({ name, item }) => WRITES.has(name) && item !== undefined);
    return Promise.all(
      writes.map(async (action) => {
        const bytes = Math.max(itemBytes(action.item as Item), this.#bytes.get(await this.#keyOf(action)) ?? 0);
        return { action, units: Math.max(1, Math.ceil(bytes / 1024)) * (call.isTransaction ? 2 : 1) };
      }),
    );
  }

  /** The call was stored. */
  async stored(call: Call): Promise<void> {
    for (const action of call.actions) {
      if (action.item === undefined || !/^(Put|BatchWrite)Item$/.test(action.name)) continue;
      const bytes = itemBytes(action.item);
      if (bytes > 1024) this.#bytes.set(await this.#keyOf(action), bytes);
    }
  }

  async #keyOf({ table, item = {} }: Action): Promise<string> {
    const names = await this.#keyNames(table);
    return JSON.stringify([table, ...names.map((name) => item[name])]);
  }
}

/** DynamoDB's size of an item: names and values; a number costs a byte for two digits, and one. */
export function itemBytes(item: Item): number {
  return Object.entries(item).reduce((sum, [name, value]) => sum + Buffer.byteLength(name) + valueBytes(value), 0);
}

function valueBytes(attribute: Attribute): number {
  const [[type, value] = ['NULL', true]] = Object.entries(attribute);
  switch (type) {
    case 'S':
      return Buffer.byteLength(value as string);
    case 'N':
      return numberBytes(value as string);
    case 'B':
      return Buffer.byteLength(value as string, 'base64');
    case 'L':
      return (value as Attribute[]).reduce((sum, one) => sum + 1 + valueBytes(one), 3);
    case 'M':
      return Object.keys(value as Item).length + 3 + itemBytes(value as Item);
    case 'SS':
    case 'NS':
    case 'BS':
      return (value as string[]).reduce((sum, one) => sum + valueBytes({ [type.charAt(0)]: one }), 0);
    default:
      return 1;
  }
}

function numberBytes(text: string): number {
  const digits = text.replace(/^-|\.|^0+|e.*$/gi, '').length;
  return Math.ceil(digits / 2) + 1 + (text.startsWith('-') ? 1 : 0);
}
