import { Recent } from './recent.ts';

describe('what was used of late', () => {
  it('OPS-4: is kept up to its bound, and what was not used for longest is forgotten', () => {
    const recent = new Recent(2, () => ({}));
    const [a, b] = [recent.of('a'), recent.of('b')];
    expect(recent.of('a')).toBe(a);
    recent.of('c');
    expect(recent.of('a')).toBe(a);
    expect(recent.of('b')).not.toBe(b);
  });
});
