// node apps/relay/src/openapi/print.ts > docs/protocol/relay.openapi.json && npx prettier --write docs/protocol/relay.openapi.json
import { openApiDocument } from './document.ts';

process.stdout.write(`${JSON.stringify(openApiDocument, null, 2)}\n`);
