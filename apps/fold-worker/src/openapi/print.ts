// node apps/fold-worker/src/openapi/print.ts > docs/protocol/fold.openapi.json && npx prettier --write docs/protocol/fold.openapi.json
import { openApiDocument } from './document.ts';

process.stdout.write(`${JSON.stringify(openApiDocument, null, 2)}\n`);
