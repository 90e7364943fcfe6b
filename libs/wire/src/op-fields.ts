/** The fields that an op must have, with the bit under which a reader notes that it saw one. */
export const REQUIRED_BITS = {
  envelope_version: 1,
  op_id: 1 << 1,
  lamport: 1 << 2,
  site: 1 << 3,
  target_kind: 1 << 4,
  target_id: 1 << 5,
  field: 1 << 6,
  op_type: 1 << 7,
  author: 1 << 8,
  wall_clock: 1 << 9,
} as const;

const OPTIONAL = ['domain', 'value'];

const NAMES: ReadonlySet<string> = new Set([...Object.keys(REQUIRED_BITS), ...OPTIONAL]);

export function isOpField(key: string): boolean {
  return NAMES.has(key);
}
