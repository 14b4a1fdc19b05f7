#!/bin/bash
# Run once, on an empty database: the owner of the tables, the service's own role, and the standby's.
set -euo pipefail

psql --username "${POSTGRES_USER:-postgres}" --dbname postgres --set ON_ERROR_STOP=1 \
  --set owner="$OWNER_PASSWORD" --set service="$SERVICE_PASSWORD" --set replication="$REPLICATION_PASSWORD" <<'END'
create role hourbank_owner login password :'owner';
create role hourbank_service login password :'service';
grant pg_read_all_stats to hourbank_service;
create role hourbank_standby login replication password :'replication';
create database hourbank owner hourbank_owner;
END
echo 'host replication hourbank_standby all scram-sha-256' >>"$PGDATA/pg_hba.conf"
