// Sends so many batches of so many records, and ends: what it syncs is counted from outside.
import { EmbeddedIngest } from './embedded-ingest.ts';

const [records, batches] = process.argv.slice(2).map(Number) as [number, number];
const ingest = await EmbeddedIngest.open({});
for (let batch = 0; batch < batches; batch++) await ingest.batch(records);
await ingest.close();
