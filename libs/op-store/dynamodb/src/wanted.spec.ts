import { Unwanted, whileWanted } from './wanted.ts';

describe('calls while they are wanted', () => {
  it('RLY-10: answer, or fail, as they do', async () => {
    const { signal } = new AbortController();
    expect(await whileWanted(undefined, async (options) => options)).toEqual({});
    expect(await whileWanted(signal, async (options) => options)).toEqual({ abortSignal: signal });
    await expect(whileWanted(signal, () => Promise.reject(new Error('failed')))).rejects.toThrow('failed');
  });

  it('RLY-10: do not begin when nobody waits', async () => {
    const calls = jest.fn();
    await expect(whileWanted(AbortSignal.abort(), calls)).rejects.toBeInstanceOf(Unwanted);
    expect(calls).not.toHaveBeenCalled();
  });

  it('RLY-10: are left alone when nobody waits any more, also if they say so themselves', async () => {
    const [silent, speaking] = [new AbortController(), new AbortController()];
    const left = whileWanted(silent.signal, () => new Promise(() => {}));
    silent.abort();
    await expect(left).rejects.toBeInstanceOf(Unwanted);
    const told = whileWanted(speaking.signal, ({ abortSignal }) => {
      return new Promise((_, reject) => abortSignal?.addEventListener('abort', () => reject(new Error('aborted'))));
    });
    speaking.abort();
    await expect(told).rejects.toBeInstanceOf(Unwanted);
  });
});
