-- What moved here from other markets: listings, and orders with their reviews. What
-- is signed is kept as it came.

-- +goose Up
-- The id of a version after the first is what its seller says, so that it names a
-- listing with its seller and its market alone.
CREATE TABLE origins (
	id      BLOB NOT NULL, -- of the listing, where it was
	seller  BLOB NOT NULL,
	market  BLOB NOT NULL, -- where it was
	listing INTEGER NOT NULL REFERENCES listings,
	move    BLOB NOT NULL, -- signed by the seller
	PRIMARY KEY (id, seller, market)
) STRICT;
CREATE INDEX origins_of ON origins (listing);
CREATE TABLE moved (
	id     BLOB PRIMARY KEY, -- of the order
	origin BLOB NOT NULL,
	buyer  BLOB NOT NULL,
	seller BLOB NOT NULL,
	market BLOB NOT NULL, -- where it was
	at     INTEGER NOT NULL, -- when it came, Unix seconds
	steps  INTEGER NOT NULL,
	sold   INTEGER NOT NULL CHECK (sold IN (0, 1)), -- it ended with a key, and its seller was paid
	stars  INTEGER NOT NULL, -- of the review; 0: none
	chain  BLOB NOT NULL,
	review BLOB, -- signed
	FOREIGN KEY (origin, seller, market) REFERENCES origins
) STRICT;
CREATE INDEX moved_of ON moved (origin, seller, market, at);
CREATE INDEX moved_by ON moved (buyer, at);
CREATE INDEX moved_to ON moved (seller, at);

-- +goose Down
DROP TABLE moved;
DROP TABLE origins;
