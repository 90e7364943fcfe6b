import { readFields, textField } from './fields.ts';

export interface RegisterRequest {
  readonly prefix: string;
  readonly replicaUuid: string;
}

/** Both are opaque: any text, also empty. 'malformed' (400) or 'invalid' (422). */
export function decodeRegister(body: Uint8Array): RegisterRequest {
  const fields = readFields(body, ['prefix', 'replica_uuid']);
  return { prefix: textField(fields, 'prefix'), replicaUuid: textField(fields, 'replica_uuid') };
}
