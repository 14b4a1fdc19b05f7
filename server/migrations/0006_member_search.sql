-- Finding members by what the office has at hand: any word of the name, the email address, the office's own number, or
-- the payment reference, each from its beginning on.

-- Without case and accents; no extension is needed for it. Split at ASCII signs alone, so that letters of any script
-- stay letters whatever the locale of the database. Each word carries its community, so that a search never wades
-- through the members of others. Cut because a lexeme has a limit of its own (2 KiB), which a name of a few hundred
-- ligatures would exceed when they are taken apart. Two other ways to write it, with translate() and as one expression
-- without a subquery, took a third longer.
create function search_words(community_id int8, input text) returns text[] language sql immutable strict as $$
  select coalesce(array_agg(community_id || ':' || left(word, 100)), '{}')
  from unnest(regexp_split_to_array(
    regexp_replace(lower(normalize(input, NFKD)), '[\u0300-\u036F]', '', 'g'), '[\s!-/:-@\[-`{-~]+')) as w(word)
  where word <> ''
$$;

-- All words, each from its beginning on; null where there is no word. The words hold no sign that would need escaping.
create function search_query(community_id int8, input text) returns tsquery language sql immutable strict as $$
  select string_agg('''' || word || ''':*', ' & ')::tsquery from unnest(search_words(community_id, input)) as w(word)
$$;

alter table members
  add column search tsvector generated always as (array_to_tsvector(search_words(community_id, name || ' '
    || coalesce(email, '') || ' ' || coalesce(external_id, '') || ' ' || creditor_reference(community_id, id)))) stored;
create index members_search on members using gin (search);

-- The few among the many.
create index members_left on members (community_id, id) where status = 'inactive';
create index members_hidden on members (community_id, id) where hidden;
