#!/bin/sh
# Stands in for Java and DynamoDB Local: takes their options and needs none of them, for nothing outlives the container here.
set -eu
# In memory: it syncs every write.
file=$(mktemp -d -p /dev/shm)/dynamodb.sqlite
# Without this index every write reads all stream records ever made.
index='CREATE INDEX IF NOT EXISTS x_stream_seq ON _stream_records(table_name, CAST(sequence_number AS INTEGER));'
(until sqlite3 "$file" 'PRAGMA busy_timeout = 5000;' "$index" >/dev/null 2>&1; do sleep 0.2; done) &
exec dynoxide serve --host 0.0.0.0 --port 8000 --db-path "$file"
