import type {
  $Command,
  DynamoDBClientResolvedConfig,
  ServiceInputTypes,
  ServiceOutputTypes,
} from '@aws-sdk/client-dynamodb';
import type {
  DynamoDBStreamsClientResolvedConfig,
  ServiceInputTypes as StreamsInputTypes,
  ServiceOutputTypes as StreamsOutputTypes,
  $Command as StreamsSdkCommand,
} from '@aws-sdk/client-dynamodb-streams';

export interface SendOptions {
  readonly abortSignal?: AbortSignal;
}

export type DynamoCommand<Input extends ServiceInputTypes, Output extends ServiceOutputTypes> = $Command<
  Input,
  Output,
  DynamoDBClientResolvedConfig,
  ServiceInputTypes,
  ServiceOutputTypes
>;

export type StreamsCommand<Input extends StreamsInputTypes, Output extends StreamsOutputTypes> = StreamsSdkCommand<
  Input,
  Output,
  DynamoDBStreamsClientResolvedConfig,
  StreamsInputTypes,
  StreamsOutputTypes
>;

/**
 * What this adapter uses of the SDK's DynamoDBClient, which is one. Whatever it throws is judged by `name`, `$metadata` and `code` alone,
 * so anything that answers the same commands may stand in for it.
 */
export interface DynamoClient {
  send<Input extends ServiceInputTypes, Output extends ServiceOutputTypes>(
    command: DynamoCommand<Input, Output>,
    options?: SendOptions,
  ): Promise<Output>;
}

/** The same of the SDK's DynamoDBStreamsClient: DescribeStream, GetShardIterator, GetRecords. */
export interface StreamsClient {
  send<Input extends StreamsInputTypes, Output extends StreamsOutputTypes>(
    command: StreamsCommand<Input, Output>,
    options?: SendOptions,
  ): Promise<Output>;
}
