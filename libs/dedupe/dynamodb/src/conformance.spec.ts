import { casesFor } from '@tidemark/libs-dedupe-contract/testing';
import { serverTests } from '@tidemark/tools-services/testing';
import { manifest, runCase } from './spec-conformance.ts';

const dynamodbTest = serverTests('dynamodb');

describe('the contract', () => {
  for (const one of casesFor(manifest).filter(({ isLarge }) => !isLarge))
    dynamodbTest(one.title, ({ endpoint }) => runCase(one, endpoint), 120_000);
});
