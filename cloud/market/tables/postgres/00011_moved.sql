-- What moved here from other markets: listings, and orders with their reviews. What
-- is signed is kept as it came.

-- +goose Up
-- The id of a version after the first is what its seller says, so that it names a
-- listing with its seller and its market alone.
CREATE TABLE origins (
	id      bytea NOT NULL, -- of the listing, where it was
	seller  bytea NOT NULL,
	market  bytea NOT NULL, -- where it was
	listing bigint NOT NULL REFERENCES listings,
	move    bytea NOT NULL, -- signed by the seller
	PRIMARY KEY (id, seller, market)
);
CREATE INDEX origins_of ON origins (listing);
CREATE TABLE moved (
	id     bytea PRIMARY KEY, -- of the order
	origin bytea NOT NULL,
	buyer  bytea NOT NULL,
	seller bytea NOT NULL,
	market bytea NOT NULL, -- where it was
	at     bigint NOT NULL, -- when it came, Unix seconds
	steps  bigint NOT NULL,
	sold   bigint NOT NULL CHECK (sold IN (0, 1)), -- it ended with a key, and its seller was paid
	stars  bigint NOT NULL, -- of the review; 0: none
	chain  bytea NOT NULL,
	review bytea, -- signed
	FOREIGN KEY (origin, seller, market) REFERENCES origins
);
CREATE INDEX moved_of ON moved (origin, seller, market, at);
CREATE INDEX moved_by ON moved (buyer, at);
CREATE INDEX moved_to ON moved (seller, at);

-- +goose Down
DROP TABLE moved;
DROP TABLE origins;
