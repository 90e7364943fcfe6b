import 'reflect-metadata';
import { runService } from '@tidemark/libs-service-kit';
import { ingest } from './ingest.ts';

await runService(ingest);
