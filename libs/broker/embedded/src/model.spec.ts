import { answersAsModel } from './spec-model.ts';
import { SpecQueue } from './spec-queue.ts';

let queue: SpecQueue;
beforeEach(async () => (queue = await SpecQueue.make()));
afterEach(() => queue.end());

const seeds = Array.from({ length: 12 }, (_, at) => at);
test.each(seeds)('BRK-1: the file answers as the model, seed %i', (seed) => answersAsModel(queue, seed));
