import fc from 'fast-check';
import { Utf8Bytes } from './utf8-bytes.ts';

const wellFormed = fc.string({ unit: 'binary', maxLength: 40 }).map((text) => text.toWellFormed());

// kills: utf8-bytes.ts: this.add(text.slice(read)) => this.add(text.slice(read + 1))
test('texts one after the other are the bytes of one text, whatever size was expected', () => {
  fc.assert(
    fc.property(fc.array(wellFormed), fc.nat(20), (texts, size) => {
      const bytes = new Utf8Bytes(size);
      for (const text of texts) bytes.add(text);
      expect(bytes.taken()).toEqual(Buffer.from(texts.join('')));
    }),
  );
});
