import type { AttributeValue } from '@aws-sdk/client-dynamodb';

/** One action's part in a cancelled transaction, in the order of the actions. */
export interface CancellationReason {
  readonly Code: string;
  readonly Message?: string;
  readonly Item?: Record<string, AttributeValue>;
}

/** An error as the SDK throws it: told apart by its name and fields, not by its class. */
export class DynamoError extends Error {
  override readonly name: string;
  readonly $fault: 'client' | 'server';
  $metadata: { readonly attempts: number; readonly httpStatusCode: number };
  readonly CancellationReasons?: readonly CancellationReason[];

  constructor(name: string, message: string, reasons?: readonly CancellationReason[]) {
    // Cancelled transactions are everyday here, and nobody reads where the simulator made them.
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(message);
    Error.stackTraceLimit = stackTraceLimit;
    this.name = name;
    this.$fault = name === 'InternalServerError' ? 'server' : 'client';
    this.$metadata = { attempts: 1, httpStatusCode: this.$fault === 'server' ? 500 : 400 };
    if (reasons !== undefined) this.CancellationReasons = reasons;
  }
}

export const NONE: CancellationReason = { Code: 'None' };
export const CONFLICT: CancellationReason = {
  Code: 'TransactionConflict',
  Message: 'Transaction is ongoing for the item',
};
export const THROTTLED: CancellationReason = {
  Code: 'ThrottlingError',
  Message: 'Throughput exceeds the current capacity of your table or index.',
};
export const OVER_PROVISIONED: CancellationReason = {
  Code: 'ProvisionedThroughputExceeded',
  Message: 'The level of configured provisioned throughput for the table was exceeded.',
};

export function cancelled(reasons: readonly CancellationReason[]): DynamoError {
  const codes = reasons.map(({ Code }) => Code).join(', ');
  return new DynamoError(
    'TransactionCanceledException',
    `Transaction cancelled, please refer cancellation reasons for specific reasons [${codes}]`,
    reasons,
  );
}

export const invalid = (message: string) => new DynamoError('ValidationException', message);
