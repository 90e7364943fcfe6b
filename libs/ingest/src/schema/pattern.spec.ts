import fc from 'fast-check';
import { Pattern } from './pattern.ts';

const fits = (pattern: string, text: string) => new Pattern(pattern).test(text);

// kills: pattern.ts: <= TRIES_MAX ? this.#own => <= Infinity ? this.#own
test.each([
  ['^(a+)+$', 'a'.repeat(40) + '!'],
  ['^(a|a)*$', 'a'.repeat(40) + '!'],
  ['(x+x+)+y', 'x'.repeat(60)],
  ['^(?:a?){40}a{40}$', 'a'.repeat(39)],
  [`^${'a?'.repeat(40)}${'a'.repeat(40)}$`, 'a'.repeat(39)],
  ['\\s+$', ' '.repeat(200_000) + 'x'],
  ['^(([a-z])+.)+[A-Z]([a-z])+$', 'a'.repeat(60)],
])('SEC-2: %s is judged in a time that grows with the text', (pattern, text) => {
  expect(fits(pattern, text)).toBe(false);
});

test.each([
  ['^[a-z]+(?:-[a-z]+)*$', ['a-b-c', 'a', '-a', 'a--b', 'A']],
  ['^\\p{L}{2,4}$', ['éé', 'é', 'abcd', 'abcde']],
  ['^.$', ['😀', '\n', 'ab', '']],
  ['^\\u{1F600}|\\uD83D\\uDE01$', ['😀', '😁', 'x']],
  ['[\\]\\-a]{2}', [']-', 'x', 'aa']],
  ['\\bend\\B', ['the ending', 'the end', 'bend']],
  ['', ['', 'a']],
  ['^(?<year>\\d{4})-(?:0[1-9]|1[0-2])$', ['2026-12', '2026-13', '26-12']],
  ['a{2,}?b|^$', ['aab', 'ab', '']],
])('ING-9: %s means what it means to the language', (pattern, texts) => {
  for (const text of texts) {
    const own = new RegExp(pattern, 'u').test(text);
    // A long text of nothing that fits makes it follow all ways.
    expect([text, fits(pattern, text), fits(`${pattern}|(?:\\0?){30}\\0`, text)]).toEqual([text, own, own]);
  }
});

test('ING-9: any pattern of sets, choices, repetitions and assertions means what it means to the language', () => {
  const { pattern } = fc.letrec<{ pattern: string; term: string }>((tie) => ({
    term: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom('a', 'b', '.', '[ab]', '[^a]', '\\w', '\\W', 'é', '\\b', '\\B', '^', '$', '(?:)'),
      fc
        .tuple(
          fc.constantFrom('(?:', '('),
          tie('pattern'),
          fc.constantFrom(')', ')*', ')+', ')?', ')*?', '){0,2}', '){2}', '){1,}'),
        )
        .map((parts) => parts.join('')),
      fc
        .tuple(fc.constantFrom('a', '[ab]', 'é', '.'), fc.constantFrom('*', '+', '?', '{2}', '{0,3}', '+?'))
        .map((parts) => parts.join('')),
    ),
    pattern: fc
      .tuple(fc.array(tie('term'), { maxLength: 3 }), fc.array(tie('term'), { maxLength: 2 }))
      .map(([one, other]) => (other.length === 0 ? one.join('') : `${one.join('')}|${other.join('')}`)),
  }));
  const text = fc
    .array(fc.constantFrom('a', 'b', 'é', '😀', ' ', '_', '\n'), { maxLength: 6 })
    .map((parts) => parts.join(''));
  fc.assert(
    fc.property(pattern, text, (source, said) => {
      const own = new RegExp(source, 'u').test(said);
      const always = new Pattern(`(?:${source})|(?:\\0?){30}\\0`);
      expect([fits(source, said), always.test(said)]).toEqual([own, own]);
    }),
    { numRuns: 2000 },
  );
});

test('SEC-2: what cannot be judged in one pass is refused, and so is a pattern that grows without end', () => {
  for (const pattern of ['(?=a)', '(?!a)', '(?<=a)', '(?<!a)'])
    expect(() => new Pattern(pattern)).toThrow('look ahead or behind');
  for (const pattern of ['(a)\\1', '(?<n>a)\\k<n>']) expect(() => new Pattern(pattern)).toThrow('refer back');
  for (const pattern of ['(', 'a{2,1}', '[b-a]']) expect(() => new Pattern(pattern)).toThrow(SyntaxError);
  for (const pattern of ['a{5000}', '((a{100}){100}){100}']) expect(() => new Pattern(pattern)).toThrow('steps');
});
