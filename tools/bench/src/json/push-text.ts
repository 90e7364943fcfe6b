import { SeededRandom } from '@tidemark/libs-kernel/testing';

const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

export interface PushSample {
  readonly text: string;
  /** The site of every op, as it stands in the text. */
  readonly sites: readonly string[];
}

/** The body of a push as a client sends it: signed ops, 63 random bits of site. */
export function pushSample(ops: number, seed = 1): PushSample {
  const random = new SeededRandom(seed);
  const letters = (n: number) => Array.from(random.bytes(n), (byte) => CROCKFORD[byte & 31]).join('');
  const sites = Array.from({ length: ops }, () => String(uint63(random)));
  const texts = sites.map(
    (site, i) =>
      `{"envelope_version":1,"op_id":"01${letters(24)}","lamport":${41_000 + i},"site":${site},"target_kind":"item",` +
      `"target_id":"q7w2.${letters(4).toLowerCase()}","field":"title","op_type":"set","value":"Order flour, number ${i}",` +
      `"author":"mira","wall_clock":"2026-10-12T08:15:00Z","key_id":"ed25519:${letters(43)}","sig":"${letters(86)}"}`,
  );
  return { text: `{"ops":[${texts.join()}]}`, sites };
}

function uint63(random: SeededRandom): bigint {
  return Buffer.from(random.bytes(8)).readBigUInt64BE(0) >> 1n;
}
