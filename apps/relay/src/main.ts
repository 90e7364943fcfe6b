import 'reflect-metadata';
import { runService } from '@tidemark/libs-service-kit';
import { relay } from './relay.ts';

await runService(relay);
