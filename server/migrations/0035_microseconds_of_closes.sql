-- Times in responses have six fraction digits. The aggregates are stored as they are sent, with three.
update aggregate_documents
set body = regexp_replace(body, '("closed_at":"[^"]*\.\d{3})Z"', '\1000Z"')
where body ~ '"closed_at":"[^"]*\.\d{3}Z"';
