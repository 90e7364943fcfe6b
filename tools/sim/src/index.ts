export { counterexamples } from './cases/counterexamples.ts';
export { type Plan, type RandomCase, type RunResult, runSeed } from './cases/random-case.ts';
export { plainAt49, randomCases } from './cases/random-cases.ts';
export { type SmallCase, smallRun } from './cases/small-case.ts';
export { type Exploration, explore } from './scheduler/explore.ts';
