export { readArguments, usage } from './arguments.ts';
export { type Hands, runComposeTest } from './compose-test.ts';
