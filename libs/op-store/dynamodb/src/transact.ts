import { type CancellationReason, TransactWriteItemsCommand } from '@aws-sdk/client-dynamodb';
import { answerOf, isCertain, mapWriteError, nameOf, type SendOptions } from '@tidemark/libs-driver-dynamodb';
import type { Random } from '@tidemark/libs-kernel';
import { type Round, transactItems } from './append-round.ts';
import type { OpsTable } from './ops-table.ts';
import { type Settled, settleRound } from './settle-round.ts';

/** `isCertain` is false where an attempt that nobody answered may still commit the round, whatever the last one was told. */
export type RoundAnswer = (Settled | { readonly kind: 'stored' } | { readonly kind: 'unanswered' }) & {
  readonly isCertain: boolean;
};

/** DynamoDB knows a transaction by its token for ten minutes, and does it once. */
const TOKEN_BYTES = 16;

/**
 * Sends a round. Its token is its own: what the SDK repeats of it by itself is done once, and no other round is taken for it. Rejects with
 * a Fault where DynamoDB refuses the call as such.
 */
export async function transact(
  table: OpsTable,
  stream: string,
  round: Round,
  random: Random,
  options: SendOptions,
): Promise<RoundAnswer> {
  const command = new TransactWriteItemsCommand({
    TransactItems: transactItems(table.name, stream, round),
    ClientRequestToken: Buffer.from(random.bytes(TOKEN_BYTES)).toString('hex'),
  });
  try {
    await table.client.send(command, options);
    return { kind: 'stored', isCertain: true };
  } catch (thrown) {
    if (nameOf(thrown) === 'TransactionCanceledException') {
      return { ...settleRound(round, reasonsOf(thrown)), isCertain: isCertain(thrown) };
    }
    const answer = answerOf(thrown);
    if (answer === 'throttled') return { kind: 'throttled', isCertain: isCertain(thrown) };
    if (answer === 'none') return { kind: 'unanswered', isCertain: false };
    throw mapWriteError(thrown, table.name);
  }
}

function reasonsOf(thrown: unknown): readonly CancellationReason[] {
  return (thrown as { readonly CancellationReasons?: readonly CancellationReason[] }).CancellationReasons ?? [];
}
