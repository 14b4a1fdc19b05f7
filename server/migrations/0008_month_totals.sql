-- Hours per month, for the console. The ledger only grows, so a month that is over is summed up once.
create table month_totals (
  community_id int8 not null references communities,
  month date not null check (extract(day from month) = 1),
  time_zone text not null,
  exchanges int8 not null,
  centihours_exchanged int8 not null,
  centihours_credited int8 not null,
  primary key (community_id, month)
);
