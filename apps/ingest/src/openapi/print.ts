// node apps/ingest/src/openapi/print.ts > docs/protocol/ingest.openapi.json && npx prettier --write docs/protocol/ingest.openapi.json
import { openApiDocument } from './document.ts';

process.stdout.write(`${JSON.stringify(openApiDocument, null, 2)}\n`);
