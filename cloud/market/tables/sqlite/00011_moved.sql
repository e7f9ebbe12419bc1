-- What moved here from other markets: listings, and orders with their reviews. What
-- is signed is kept as it came.

-- +goose Up
CREATE TABLE origins (
	id      BLOB PRIMARY KEY, -- of the listing, where it was
	listing INTEGER NOT NULL REFERENCES listings,
	move    BLOB NOT NULL -- signed by the seller
) STRICT;
CREATE INDEX origins_of ON origins (listing);
CREATE TABLE moved (
	id     BLOB PRIMARY KEY, -- of the order
	origin BLOB NOT NULL REFERENCES origins,
	buyer  BLOB NOT NULL,
	seller BLOB NOT NULL,
	at     INTEGER NOT NULL, -- when it came, Unix seconds
	steps  INTEGER NOT NULL,
	sold   INTEGER NOT NULL CHECK (sold IN (0, 1)), -- it ended with a key, and its seller was paid
	stars  INTEGER NOT NULL, -- of the review; 0: none
	chain  BLOB NOT NULL,
	review BLOB -- signed
) STRICT;
CREATE INDEX moved_of ON moved (origin, at);
CREATE INDEX moved_by ON moved (buyer, at);
CREATE INDEX moved_to ON moved (seller, at);

-- +goose Down
DROP TABLE moved;
DROP TABLE origins;
