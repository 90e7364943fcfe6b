import { readArguments } from './arguments.ts';

test('without arguments there are defaults', () => {
  expect(readArguments({})).toEqual({ help: false, events: 3000, minutes: 15 });
});

// kills: arguments.ts: value >= min && value <= max => value >= min
test.each([
  [{ events: '99' }, '--events'],
  [{ events: '1000001' }, '--events'],
  [{ events: '1e3' }, '--events'],
  [{ events: '' }, '--events'],
  [{ minutes: '0' }, '--minutes'],
  [{ minutes: '601' }, '--minutes'],
])('%j is refused by its name', (values, name) => {
  expect(readArguments(values)).toMatch(name);
});

test('numbers at their bounds are taken', () => {
  expect(readArguments({ events: '100', minutes: '600' })).toEqual({ help: false, events: 100, minutes: 600 });
});
