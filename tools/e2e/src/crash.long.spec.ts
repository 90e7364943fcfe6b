import { crashTest } from './crash-moments.ts';

const MOMENTS = Number(process.env.TIDEMARK_CRASH_MOMENTS ?? 20);
crashTest(MOMENTS, 1, MOMENTS / 2);
