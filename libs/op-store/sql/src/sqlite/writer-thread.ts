/**
 * The thread that writes. What lies at its port when a transaction begins goes into that transaction, as far as it fits; each batch is
 * answered by itself. It ends when it is sent null.
 */
import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import type { Batch, WriterSettings, Written } from './command.ts';
import { LogWriter } from './log-writer.ts';
import { openToWrite } from './open-to-write.ts';
import { countThatFit } from './weight.ts';

const port = parentPort as MessagePort;
const settings = workerData as WriterSettings;
const writer = new LogWriter(settings, () => openToWrite(settings.file));
const waiting: Batch[] = [];
let closing = false;

port.on('message', (first: Batch | null) => {
  keep(first);
  while (waiting.length > 0) {
    for (let more = receiveMessageOnPort(port); more !== undefined; more = receiveMessageOnPort(port))
      keep(more.message);
    port.postMessage(write(waiting.splice(0, countThatFit(waiting))));
  }
  if (!closing) return;
  writer.close();
  port.close();
});

function keep(sent: Batch | null): void {
  if (sent === null) closing = true;
  else waiting.push(sent);
}

/** One transaction; answers what became of each batch. */
function write(batches: readonly Batch[]): Written[] {
  const commands = batches.flatMap((batch) => batch.commands);
  const { outcomes, fatal } = writer.write(commands, batches[0]?.first);
  let end = 0;
  return batches.map(({ commands }) => ({ outcomes: outcomes.slice(end, (end += commands.length)), fatal }));
}
