-- Finding members by what the office has at hand: any word of the name, the email address, the office's own number, or
-- the payment reference, each from its beginning on.

-- Without case and accents; no extension is needed for it. Plain ASCII, which most of it is, takes the short way.
-- Cut because a lexeme has a limit of its own (2 KiB), which a name of ligatures would exceed when they are taken apart.
-- Neither strict nor with anything but immutable parts, here and below, so that PostgreSQL puts the expression in place
-- of the call: that takes a tenth of the time, and every new member pays for it.
create function search_text(input text) returns text language sql immutable as $$
  select case when octet_length(input) = length(input) then lower(input)
    else regexp_replace(lower(normalize(regexp_replace(input, '(\S{100})\S+', '\1', 'g'), NFKD)), '[\u0300-\u036F]+', '', 'g')
    end
$$;

-- Split at ASCII signs alone, so that letters of any script stay letters whatever the locale of the database. Each word
-- carries its community, so that a search never wades through the members of others.
create function search_words(community_id int8, input text) returns text[] language sql immutable as $$
  select array_remove(string_to_array(community_id::text || ':' || replace(
    translate(search_text(input), '!"#$%&''()*+,-./:;<=>?@[\]^_`{|}~', '                                '),
    ' ', ' ' || community_id::text || ':'), ' '), community_id::text || ':')
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
