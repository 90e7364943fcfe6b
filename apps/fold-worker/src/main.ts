import 'reflect-metadata';
import { runService } from '@tidemark/libs-service-kit';
import { foldWorker } from './fold-worker.ts';

await runService(foldWorker);
