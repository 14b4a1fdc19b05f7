-- The language in which a person wants to see the console. Null: that of the community, else that of the browser.
alter table admins add column language text;
