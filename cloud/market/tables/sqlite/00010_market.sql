-- Listings, orders and reviews. What is signed is kept as it came; the columns
-- beside it are for finding it.

-- +goose Up
CREATE TABLE bundles (
	root  BLOB PRIMARY KEY,
	items BLOB NOT NULL, -- CBOR array of sealed items
	bytes INTEGER NOT NULL
) STRICT;
CREATE TABLE listings (
	n        INTEGER PRIMARY KEY,
	id       BLOB NOT NULL UNIQUE,
	seller   BLOB NOT NULL,
	state    TEXT NOT NULL CHECK (state IN ('live', 'withdrawn', 'removed')),
	version  BLOB NOT NULL, -- the newest
	number   INTEGER NOT NULL,
	price    INTEGER NOT NULL,
	currency TEXT NOT NULL,
	notice   BLOB, -- signed: why it ended
	sold     INTEGER NOT NULL DEFAULT 0,
	reviews  INTEGER NOT NULL DEFAULT 0,
	stars    INTEGER NOT NULL DEFAULT 0,
	reports  INTEGER NOT NULL DEFAULT 0,
	at       INTEGER NOT NULL -- when the newest version came, Unix seconds
) STRICT;
CREATE INDEX listings_of ON listings (seller);
CREATE INDEX listings_new ON listings (state, at);
CREATE TABLE versions (
	hash    BLOB PRIMARY KEY,
	listing INTEGER NOT NULL REFERENCES listings,
	number  INTEGER NOT NULL,
	root    BLOB NOT NULL,
	signed  BLOB NOT NULL,
	UNIQUE (listing, number)
) STRICT;
CREATE TABLE listing_facets (
	listing INTEGER NOT NULL REFERENCES listings,
	kind    TEXT NOT NULL,
	value   TEXT NOT NULL,
	PRIMARY KEY (kind, value, listing)
) STRICT, WITHOUT ROWID;
CREATE INDEX listing_facets_of ON listing_facets (listing);
CREATE VIRTUAL TABLE listing_words USING fts5 (title, body, tokenize = 'ascii', detail = full);
CREATE TABLE orders (
	id       BLOB PRIMARY KEY,
	version  BLOB NOT NULL REFERENCES versions,
	buyer    BLOB NOT NULL,
	seller   BLOB NOT NULL,
	arbiter  BLOB NOT NULL,
	phase    TEXT NOT NULL,
	deadline INTEGER NOT NULL, -- Unix seconds; 0 at an end
	moved    INTEGER NOT NULL,
	signed   BLOB NOT NULL,
	stamp    BLOB NOT NULL
) STRICT;
CREATE INDEX orders_by ON orders (buyer, moved);
CREATE INDEX orders_to ON orders (seller, phase, moved);
CREATE INDEX orders_judged ON orders (arbiter, phase, moved);
CREATE INDEX orders_due ON orders (deadline) WHERE deadline > 0;
CREATE TABLE steps (
	of     BLOB NOT NULL REFERENCES orders,
	n      INTEGER NOT NULL,
	hash   BLOB NOT NULL UNIQUE,
	signed BLOB NOT NULL,
	stamp  BLOB NOT NULL,
	PRIMARY KEY (of, n)
) STRICT;
CREATE TABLE reviews (
	of      BLOB PRIMARY KEY REFERENCES orders,
	listing INTEGER NOT NULL REFERENCES listings,
	at      INTEGER NOT NULL,
	signed  BLOB NOT NULL
) STRICT;
CREATE INDEX reviews_of ON reviews (listing, at);
CREATE TABLE reports (
	listing INTEGER NOT NULL REFERENCES listings,
	by      BLOB NOT NULL,
	at      INTEGER NOT NULL,
	signed  BLOB NOT NULL,
	PRIMARY KEY (listing, by)
) STRICT;

-- +goose Down
DROP TABLE reports;
DROP TABLE reviews;
DROP TABLE steps;
DROP TABLE orders;
DROP TABLE listing_words;
DROP TABLE listing_facets;
DROP TABLE versions;
DROP TABLE listings;
DROP TABLE bundles;
