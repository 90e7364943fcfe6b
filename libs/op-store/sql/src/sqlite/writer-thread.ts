/** The thread that writes: answers each batch that it is sent, and ends when it is sent null. */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import type { Command, WriterSettings } from './command.ts';
import { LogWriter } from './log-writer.ts';
import { openToWrite } from './open-to-write.ts';

const port = parentPort as MessagePort;
const settings = workerData as WriterSettings;
const writer = new LogWriter(settings, () => openToWrite(settings.file));

port.on('message', (batch: readonly Command[] | null) => {
  if (batch !== null) return port.postMessage(writer.write(batch));
  writer.close();
  port.close();
});
