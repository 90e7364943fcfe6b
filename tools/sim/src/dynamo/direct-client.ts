import type { DynamoClient } from '@tidemark/libs-op-store-dynamodb';
import type { Answer } from './request.ts';
import type { SimDynamo } from './sim-dynamo.ts';
import { calm } from './weather.ts';

/** Asks the simulated tables at once, and meets no trouble: for those who judge. Of the ops table it must not ask pages that take time. */
export function directClient(dynamo: SimDynamo): DynamoClient {
  const send = (command: { readonly input: object }): Promise<unknown> => {
    const operation = command.constructor.name.replace(/Command$/, '');
    const { weather } = dynamo;
    let answer: Answer | undefined;
    dynamo.weather = calm;
    const input = { ...command.input };
    dynamo.receive({
      operation,
      input,
      name: 'judge',
      from: 'judge',
      abandoned: () => false,
      reply: (told) => (answer = told),
    });
    dynamo.weather = weather;
    if (answer === undefined) throw new Error(`${operation} was not answered at once`);
    return answer.kind === 'output' ? Promise.resolve(answer.output) : Promise.reject(answer.error);
  };
  return { send } as unknown as DynamoClient;
}
