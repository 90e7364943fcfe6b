import { crashTest } from './crash-moments.ts';

// Each service once, early: a demo that has ended could not be cut short.
crashTest(3, 0.5, 1);
