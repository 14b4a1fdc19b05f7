#!/bin/bash
# Copies the primary on the first start, and follows it from then on.
set -euo pipefail

if [ ! -s "$PGDATA/PG_VERSION" ]; then
  # The slot may be left from a copy that was interrupted.
  pg_basebackup --host "$PRIMARY" --port "${PRIMARY_PORT:-5432}" --username hourbank_standby --pgdata "$PGDATA" \
    --write-recovery-conf --wal-method stream --checkpoint fast --create-slot --slot standby ||
    pg_basebackup --host "$PRIMARY" --port "${PRIMARY_PORT:-5432}" --username hourbank_standby --pgdata "$PGDATA" \
      --write-recovery-conf --wal-method stream --checkpoint fast --slot standby
  chmod 0700 "$PGDATA"
fi
exec postgres "$@"
