import { compareUtf8 } from '@tidemark/libs-kernel';
import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { invalid } from './errors.ts';
import { type Item, compareValues } from './item.ts';

/** Names of the partition key and of the sort key, both texts. */
export type PlainKey = readonly [partition: string, sort: string];

export interface PlainWrite {
  readonly key: Item;
  readonly before: Item | null;
  readonly after: Item | null;
}

/** Whether a Query or a Scan looks at the sort key, and from where it goes on. */
export interface PlainRange {
  readonly isInside: (sort: AttributeValue) => boolean;
  readonly ascending: boolean;
  readonly after: Item | undefined;
}

/**
 * A table whose every call is one instant of one serial order: what code that reads strongly and writes under conditions may rely on. For
 * tables whose writers send no transactions of many items; the ops table has its own, weaker, simulation.
 */
export class PlainTable {
  readonly key: PlainKey;
  readonly #partitions = new Map<string, Map<string, Item>>();
  readonly #listeners: ((write: PlainWrite) => void)[] = [];

  constructor(key: PlainKey) {
    this.key = key;
  }

  onWrite(listener: (write: PlainWrite) => void): void {
    this.#listeners.push(listener);
  }

  keyOf(item: Item | undefined): Item {
    const [partition, sort] = this.key;
    const [a, b] = [item?.[partition], item?.[sort]];
    if (!a?.S || !b?.S) throw invalid('The provided key element does not match the schema');
    return { [partition]: a, [sort]: b };
  }

  get(key: Item): Item | null {
    const [partition, sort] = this.#names(key);
    return this.#partitions.get(partition)?.get(sort) ?? null;
  }

  /** null removes the item. */
  write(key: Item, after: Item | null): void {
    const before = this.get(key);
    const [partition, sort] = this.#names(key);
    const items = this.#partitions.get(partition) ?? new Map<string, Item>();
    if (after === null) items.delete(sort);
    else items.set(sort, after);
    this.#partitions.set(partition, items);
    for (const listener of this.#listeners) listener({ key, before, after });
  }

  get partitions(): readonly string[] {
    return [...this.#partitions.keys()].sort();
  }

  /** The items of a partition key in the order of a Query. */
  items(partition: string, { isInside, ascending, after }: PlainRange = EVERYTHING): readonly Item[] {
    const sort = this.key[1];
    const found = [...(this.#partitions.get(partition)?.values() ?? [])]
      .filter((item) => isInside(item[sort] as AttributeValue))
      .sort((a, b) => compareUtf8(a[sort]?.S ?? '', b[sort]?.S ?? ''));
    const ordered = ascending ? found : found.toReversed();
    const start = after?.[sort];
    if (start === undefined) return ordered;
    const sign = ascending ? 1 : -1;
    return ordered.filter((item) => sign * (compareValues(item[sort] as AttributeValue, start) ?? 0) > 0);
  }

  #names(key: Item): readonly [string, string] {
    const [partition, sort] = this.key;
    return [key[partition]?.S as string, key[sort]?.S as string];
  }
}

const EVERYTHING: PlainRange = { isInside: () => true, ascending: true, after: undefined };
