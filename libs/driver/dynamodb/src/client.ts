import type {
  $Command,
  DynamoDBClientResolvedConfig,
  ServiceInputTypes,
  ServiceOutputTypes,
} from '@aws-sdk/client-dynamodb';

export type DynamoCommand<Input extends ServiceInputTypes, Output extends ServiceOutputTypes> = $Command<
  Input,
  Output,
  DynamoDBClientResolvedConfig,
  ServiceInputTypes,
  ServiceOutputTypes
>;

export interface SendOptions {
  readonly abortSignal?: AbortSignal;
}

/**
 * What adapters use of the SDK's DynamoDBClient, which is one. Whatever it throws is judged by `name`, `code`, `$fault`, `$metadata` and the
 * CancellationReasons alone, so anything that answers the same commands may stand in for it.
 */
export interface DynamoClient {
  send<Input extends ServiceInputTypes, Output extends ServiceOutputTypes>(
    command: DynamoCommand<Input, Output>,
    options?: SendOptions,
  ): Promise<Output>;
}
