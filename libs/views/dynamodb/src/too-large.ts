import { nameOf } from '@tidemark/libs-driver-dynamodb';

/** The item would outgrow DynamoDB's bound: nothing of the write is stored, nor will be. */
export function isTooLarge(thrown: unknown): boolean {
  return nameOf(thrown) === 'ValidationException' && /item size/i.test((thrown as Error).message);
}
