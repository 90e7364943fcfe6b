import { SpecRig } from './spec-rig.ts';

test('F4, F19: a new fold names every stream of the table, and then what the stream of the table brings', async () => {
  const rig = new SpecRig();
  for (let i = 0; i < 20; i++) rig.op(`s${i}`, 3n);
  const shard = rig.streams.shard('shard-1');
  const worker = rig.start();
  await rig.pass(3000);
  expect(worker.heads.size).toBe(20);
  rig.streams.append(shard, 's1', 4n);
  rig.streams.append(shard, 'new', 1n);
  await rig.pass(2000);
  expect([worker.heads.get('s1'), worker.heads.get('new')]).toEqual([4n, 1n]);
  expect(rig.shardRow('shard-1')).toMatchObject({ checkpoint: { S: shard.records.at(-1)?.sequence } });
  await rig.during(worker.close());
});
