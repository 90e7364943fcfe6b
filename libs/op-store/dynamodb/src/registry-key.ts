import { createHash } from 'node:crypto';
import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { Fault } from '@tidemark/libs-kernel';

/** DynamoDB's own bounds of a key, in UTF-8 bytes. */
const STREAM_ID_BYTES_MAX = 2048;
const SORT_KEY_BYTES_MAX = 1024;
/** Leaves an item of the registry far below DynamoDB's 400 KB, whatever else is in it. */
const TEXT_BYTES_MAX = 128 * 1024;

export type RegistryKey = Readonly<Record<'stream_id' | 'sk', AttributeValue.SMember>>;

/**
 * Key of a claim's row: `sk` is `<row>#<text>`. A text that is too long for a key is named by its SHA-256 instead, `<row>-sha256#<hex>`, which no
 * other text's key can be.
 */
export function registryKey(stream: string, row: 'prefix' | 'uuid', text: string): RegistryKey {
  const plain = `${row}#${text}`;
  const isShort = Buffer.byteLength(plain) <= SORT_KEY_BYTES_MAX;
  return { stream_id: { S: stream }, sk: { S: isShort ? plain : `${row}-sha256#${sha256(text)}` } };
}

/** Fault `malformed` when nothing of the stream can be stored, which no op is to blame for; `invalid` when another text of a row cannot. */
export function assertStorable(stream: string, texts: Readonly<Record<string, string>>): void {
  if (!isStreamId(stream))
    throw new Fault('malformed', `the stream id is empty or longer than ${STREAM_ID_BYTES_MAX} bytes`);
  for (const [name, text] of Object.entries(texts))
    if (Buffer.byteLength(text) > TEXT_BYTES_MAX)
      throw new Fault('invalid', `${name} is longer than ${TEXT_BYTES_MAX} bytes`);
}

/** Whether the table can hold anything of such a stream. */
export function isStreamId(stream: string): boolean {
  const bytes = Buffer.byteLength(stream);
  return bytes > 0 && bytes <= STREAM_ID_BYTES_MAX;
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
