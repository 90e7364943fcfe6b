import { accessSync, constants } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { ServerAbsent } from './absent.ts';
import { OwnFolder } from './own-folder.ts';
import { isThere } from './programs.ts';
import { type Server, startOnFreePort } from './server.ts';

/**
 * A stand-in for DynamoDB and its Streams. It is kinder than the real one: it never conflicts, throttles or reorders, has
 * one shard, and makes a stream record for a write that changes nothing. Any credentials pass, but some must be sent.
 */
export async function startDynamodb(parent: string): Promise<Server> {
  const file = standIn();
  const folder = await OwnFolder.make(parent, 'dynamodb');
  const database = path.join(folder.path, 'dynamodb.sqlite');
  const server = await startOnFreePort(folder, async (port) => ({
    name: 'the DynamoDB stand-in',
    endpoint: `http://127.0.0.1:${port}`,
    folder,
    file,
    args: ['serve', '--host', '127.0.0.1', '--port', String(port), '--db-path', database],
    stopSignal: 'SIGTERM',
    dropSignal: 'SIGKILL',
    answers: () => answers(port),
  }));
  indexStreamRecords(database);
  return server;
}

/** Memory where the system offers it as a folder: the stand-in fsyncs each write, which no test of ours depends on. */
export async function dynamodbFolder(): Promise<string> {
  const memory = '/dev/shm';
  return (await isThere(memory, constants.W_OK)) ? memory : tmpdir();
}

function standIn(): string {
  const name = `@dynoxide/${process.platform}-${process.arch}`;
  try {
    const manifest = createRequire(import.meta.filename).resolve(`${name}/package.json`);
    const file = path.join(path.dirname(manifest), 'dynoxide');
    accessSync(file, constants.X_OK);
    return file;
  } catch {
    throw new ServerAbsent(`no DynamoDB stand-in: the package ${name} is not installed; set DYNAMODB_ENDPOINT`);
  }
}

async function answers(port: number): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${port}/`, { signal: AbortSignal.timeout(1000) });
  await response.arrayBuffer();
  if (!response.ok) throw new Error(`status ${response.status}`);
}

/** Without this index every write reads all stream records ever made, so that a long run slows down without end. */
function indexStreamRecords(database: string): void {
  const db = new DatabaseSync(database);
  try {
    db.exec(`PRAGMA busy_timeout = 5000;
      CREATE INDEX IF NOT EXISTS x_stream_seq ON _stream_records(table_name, CAST(sequence_number AS INTEGER))`);
  } finally {
    db.close();
  }
}
