import { canonicalTime } from '../timestamp.ts';

/**
 * The formats that a schema may name, each in time linear in the text. A schema that names another is refused, because its rule would
 * be off in silence.
 */
export const FORMATS: Readonly<Record<string, (text: string) => boolean>> = {
  'date-time': (text) => /^[^ ]{19,}(?:[Zz]|[+-]\d\d:\d\d)$/.test(text) && canonicalTime(text, null) !== null,
  date: (text) => /^\d{4}-\d\d-\d\d$/.test(text) && canonicalTime(`${text}T00:00:00Z`, null) !== null,
  time: (text) => /(?:[Zz]|[+-]\d\d:\d\d)$/.test(text) && canonicalTime(`1970-01-01T${text}`, null) !== null,
  uuid: (text) => /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i.test(text),
  ipv4: (text) => /^(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?!$)|$)){4}$/.test(text),
  ipv6: (text) => /^[0-9a-f:.]{2,45}$/i.test(text) && URL.canParse(`http://[${text}]/`),
  email: (text) => /^[^\s@]{1,64}@[^\s@.]+(?:\.[^\s@.]+)*$/.test(text) && text.length <= 320,
  hostname: (text) =>
    text.length <= 253 && /^[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?(?:\.[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?)*$/i.test(text),
  uri: (text) => /^[a-z][a-z\d+.-]*:[^\s<>"{}|\\^`]*$/i.test(text) && URL.canParse(text),
};
