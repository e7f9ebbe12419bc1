-- What moved here from other markets: listings, and orders with their reviews. What
-- is signed is kept as it came.

-- +goose Up
CREATE TABLE origins (
	id      bytea PRIMARY KEY, -- of the listing, where it was
	listing bigint NOT NULL REFERENCES listings,
	move    bytea NOT NULL -- signed by the seller
);
CREATE INDEX origins_of ON origins (listing);
CREATE TABLE moved (
	id     bytea PRIMARY KEY, -- of the order
	origin bytea NOT NULL REFERENCES origins,
	buyer  bytea NOT NULL,
	seller bytea NOT NULL,
	at     bigint NOT NULL, -- when it came, Unix seconds
	steps  bigint NOT NULL,
	sold   bigint NOT NULL CHECK (sold IN (0, 1)), -- it ended with a key, and its seller was paid
	stars  bigint NOT NULL, -- of the review; 0: none
	chain  bytea NOT NULL,
	review bytea -- signed
);
CREATE INDEX moved_of ON moved (origin, at);
CREATE INDEX moved_by ON moved (buyer, at);
CREATE INDEX moved_to ON moved (seller, at);

-- +goose Down
DROP TABLE moved;
DROP TABLE origins;
