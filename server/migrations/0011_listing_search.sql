-- Words of listings in the index with their community, as those of members are (0006): a search reads the entries of
-- one community, however often others use the same words.

-- An index of words has no use for their places. Cut because a lexeme has a limit of its own (2 KiB); nobody can search
-- for more than 200 letters. The word without letters stands in every listing of the community. The cost keeps the
-- planner from working this out row by row in tables that are no longer tiny.
create function listing_words(community_id int8, search tsvector) returns tsvector
language sql immutable strict parallel safe cost 200 as $$
  select array_to_tsvector(array_agg(community_id || ':' || left(word, 500)) || (community_id || ':'))
  from unnest(tsvector_to_array(search)) as w(word)
$$;

-- What the index can say to a query: no listing that fits it is missing, but some may be too many, since words that must
-- not occur are left out and words of a phrase may stand anywhere. Where nothing else is left, the whole community.
-- Between the words of a query are signs and spaces, in them neither; quotes are doubled.
create function listing_query(community_id int8, query tsquery) returns tsquery
language sql immutable strict parallel safe as $$
  select case querytree(query)
    when '' then query
    when 'T' then format('''%s:''', community_id)::tsquery
    else regexp_replace(
      regexp_replace(querytree(query), '''((?:[^'']|'''')+)''', format('''%s:\1''', community_id), 'g'),
      ' <(?:-|\d+)> ', ' & ', 'g')::tsquery
  end
$$;

create index listings_words on listings using gin (listing_words(community_id, search));
drop index listings_search;
