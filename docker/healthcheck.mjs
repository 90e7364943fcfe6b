// Ends with 0 when the app of this image answers /livez: where its address setting says, else on its standard port.
import { readFileSync } from 'node:fs';

const { name } = JSON.parse(readFileSync(new URL('package.json', import.meta.url), 'utf8'));
const { RELAY_ADDR, INGEST_ADDR, FOLD_ADDR } = process.env;
const address = {
  '@tidemark/apps-relay': RELAY_ADDR || '127.0.0.1:8787',
  '@tidemark/apps-ingest': INGEST_ADDR || '127.0.0.1:8788',
  '@tidemark/apps-fold-worker': FOLD_ADDR || '127.0.0.1:8789',
}[name];
const answer = await fetch(`http://${address}/livez`, { signal: AbortSignal.timeout(4000) });
process.exit(answer.ok ? 0 : 1);
