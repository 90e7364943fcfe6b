import assert from 'node:assert/strict';
import type { TransactWriteItem, TransactWriteItemsCommandInput } from '@aws-sdk/client-dynamodb';
import type { DynamoClient } from '@tidemark/libs-op-store-dynamodb';

interface Metered {
  readonly input: Partial<TransactWriteItemsCommandInput>;
}

/** Two for each action: nothing here is larger than a KB. */
const UNITS_PER_ACTION = 2;

/**
 * The write units of the transactions that go through a client: what DynamoDB says of a stored one, and of a cancelled one, of which it says
 * nothing, its actions at the same price.
 */
export class UnitMeter implements DynamoClient {
  units = 0;
  rounds = 0;
  cancelled = 0;
  readonly #client: DynamoClient;
  readonly send: DynamoClient['send'];

  constructor(client: DynamoClient) {
    this.#client = client;
    this.send = (command, options) => this.#send(command, options);
  }

  #send: DynamoClient['send'] = async (command, options) => {
    const { input } = command as unknown as Metered;
    const items = input.TransactItems;
    // A TransactGetItems writes nothing.
    if (items === undefined || !items.some((item: TransactWriteItem) => item.Update)) {
      return this.#client.send(command, options);
    }
    input.ReturnConsumedCapacity = 'TOTAL';
    this.rounds++;
    try {
      const output = await this.#client.send(command, options);
      const { ConsumedCapacity: [consumed] = [] } = output as { ConsumedCapacity?: { CapacityUnits?: number }[] };
      const told = consumed?.CapacityUnits;
      assert.equal(told, items.length * UNITS_PER_ACTION, 'an item is larger than it should be');
      this.units += told;
      return output;
    } catch (thrown) {
      if ((thrown as Error).name !== 'TransactionCanceledException') throw thrown;
      this.cancelled++;
      this.units += items.length * UNITS_PER_ACTION;
      throw thrown;
    }
  };
}
