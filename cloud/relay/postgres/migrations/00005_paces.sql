-- Requests of a minute, counted over all relays. Not logged: after a crash
-- everybody has a minute's worth. Old relays may serve meanwhile: they don't
-- look here.

-- +goose Up
CREATE UNLOGGED TABLE paces (
	id    bytea PRIMARY KEY,        -- a hash of the account, so that this is no list of them
	spare double precision NOT NULL, -- requests; below zero where relays let in too many before they knew
	at    double precision NOT NULL -- s since 1970 that spare was right
);
GRANT SELECT, INSERT, UPDATE, DELETE ON paces TO locket_relay;

-- +goose Down
DROP TABLE paces;
