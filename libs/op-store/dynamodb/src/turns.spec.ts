import { Turns } from './turns.ts';

type End = () => void;

describe('turns', () => {
  it('RLY-7: come one after another for a name, in the order of asking', async () => {
    const turns = new Turns();
    const told: string[] = [];
    const take = async (who: string): Promise<End> => {
      const end = (await turns.take('s')) as End;
      told.push(who);
      return end;
    };
    const [first, second, third] = [take('first'), take('second'), take('third')];
    const end = await first;
    expect(told).toEqual(['first']);
    end();
    (await second)();
    (await third)();
    expect(told).toEqual(['first', 'second', 'third']);
    expect(typeof (await turns.take('s'))).toBe('function');
  });

  it('RLY-8: of different names do not wait for each other', async () => {
    const turns = new Turns();
    await turns.take('a');
    expect(typeof (await turns.take('b'))).toBe('function');
  });

  it('RLY-10: that nobody wants are left out, before they begin or while they wait', async () => {
    const turns = new Turns();
    const unwanted = new AbortController();
    const end = (await turns.take('s')) as End;
    const leaving = turns.take('s', unwanted.signal);
    const staying = turns.take('s', new AbortController().signal);
    unwanted.abort();
    expect(await leaving).toBeNull();
    expect(await turns.take('s', unwanted.signal)).toBeNull();
    end();
    expect(typeof (await staying)).toBe('function');
  });
});
