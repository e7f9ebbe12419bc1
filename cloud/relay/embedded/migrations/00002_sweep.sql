-- What a sweep looks for is found without reading every row.

-- +goose Up
CREATE INDEX blobs_unfinished ON blobs (touched) WHERE done = 0;
CREATE INDEX mailboxes_until ON mailboxes (until);
CREATE INDEX nonces_until ON nonces (until);

-- +goose Down
DROP INDEX blobs_unfinished;
DROP INDEX mailboxes_until;
DROP INDEX nonces_until;
