import { Fault } from '@tidemark/libs-kernel';
import { MemoryOpStore, someOps } from '@tidemark/libs-op-store-contract/testing';
import { toldAppends } from './tail-hub.ts';

// kills: tail-hub.ts: } finally { => } catch (thrown) { throw thrown; } {
test('RLY-14: readers are woken after an append, also after one that failed, of which a part may be stored', async () => {
  const woken: string[] = [];
  const store = new MemoryOpStore();
  const told = toldAppends(store, { appended: (stream) => void woken.push(stream) });
  await told.append('stored', someOps(1));
  store.append = () => Promise.reject(new Fault('unknown_outcome', 'the answer was lost'));
  await expect(told.append('failed', someOps(1))).rejects.toMatchObject({ code: 'unknown_outcome' });
  expect(woken).toEqual(['stored', 'failed']);
});
