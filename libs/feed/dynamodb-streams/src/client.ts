import type {
  DynamoDBStreamsClientResolvedConfig,
  ServiceInputTypes as StreamsInputTypes,
  ServiceOutputTypes as StreamsOutputTypes,
  $Command as StreamsSdkCommand,
} from '@aws-sdk/client-dynamodb-streams';
import type { SendOptions } from '@tidemark/libs-driver-dynamodb';

export type StreamsCommand<Input extends StreamsInputTypes, Output extends StreamsOutputTypes> = StreamsSdkCommand<
  Input,
  Output,
  DynamoDBStreamsClientResolvedConfig,
  StreamsInputTypes,
  StreamsOutputTypes
>;

/** What the driver's DynamoClient is, of the SDK's DynamoDBStreamsClient: DescribeStream, GetShardIterator, GetRecords. */
export interface StreamsClient {
  send<Input extends StreamsInputTypes, Output extends StreamsOutputTypes>(
    command: StreamsCommand<Input, Output>,
    options?: SendOptions,
  ): Promise<Output>;
}
