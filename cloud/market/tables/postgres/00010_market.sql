-- Listings, orders and reviews. What is signed is kept as it came; the columns
-- beside it are for finding it.

-- +goose Up
CREATE TABLE bundles (
	root  bytea PRIMARY KEY,
	items bytea NOT NULL, -- CBOR array of sealed items
	bytes bigint NOT NULL
);
CREATE TABLE listings (
	n        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	id       bytea NOT NULL UNIQUE,
	seller   bytea NOT NULL,
	state    text NOT NULL CHECK (state IN ('live', 'withdrawn', 'removed')),
	version  bytea NOT NULL, -- the newest
	number   bigint NOT NULL,
	price    bigint NOT NULL,
	currency text NOT NULL,
	notice   bytea, -- signed: why it ended
	sold     bigint NOT NULL DEFAULT 0,
	reviews  bigint NOT NULL DEFAULT 0,
	stars    bigint NOT NULL DEFAULT 0,
	reports  bigint NOT NULL DEFAULT 0,
	at       bigint NOT NULL, -- when the newest version came, Unix seconds
	words    tsvector NOT NULL
);
CREATE INDEX listings_of ON listings (seller);
CREATE INDEX listings_new ON listings (state, at);
CREATE INDEX listings_words ON listings USING gin (words);
CREATE TABLE versions (
	hash    bytea PRIMARY KEY,
	listing bigint NOT NULL REFERENCES listings,
	number  bigint NOT NULL,
	root    bytea NOT NULL,
	signed  bytea NOT NULL,
	UNIQUE (listing, number)
);
CREATE TABLE listing_facets (
	listing bigint NOT NULL REFERENCES listings,
	kind    text NOT NULL,
	value   text NOT NULL,
	PRIMARY KEY (kind, value, listing)
);
CREATE INDEX listing_facets_of ON listing_facets (listing);
CREATE TABLE orders (
	id       bytea PRIMARY KEY,
	version  bytea NOT NULL REFERENCES versions,
	buyer    bytea NOT NULL,
	seller   bytea NOT NULL,
	arbiter  bytea NOT NULL,
	phase    text NOT NULL,
	deadline bigint NOT NULL, -- Unix seconds; 0 at an end
	moved    bigint NOT NULL,
	signed   bytea NOT NULL,
	stamp    bytea NOT NULL
);
CREATE INDEX orders_by ON orders (buyer, moved);
CREATE INDEX orders_to ON orders (seller, phase, moved);
CREATE INDEX orders_judged ON orders (arbiter, phase, moved);
CREATE INDEX orders_due ON orders (deadline) WHERE deadline > 0;
CREATE TABLE steps (
	of     bytea NOT NULL REFERENCES orders,
	n      bigint NOT NULL,
	hash   bytea NOT NULL UNIQUE,
	signed bytea NOT NULL,
	stamp  bytea NOT NULL,
	PRIMARY KEY (of, n)
);
CREATE TABLE reviews (
	of      bytea PRIMARY KEY REFERENCES orders,
	listing bigint NOT NULL REFERENCES listings,
	at      bigint NOT NULL,
	signed  bytea NOT NULL
);
CREATE INDEX reviews_of ON reviews (listing, at);
CREATE TABLE reports (
	listing bigint NOT NULL REFERENCES listings,
	by      bytea NOT NULL,
	at      bigint NOT NULL,
	signed  bytea NOT NULL,
	PRIMARY KEY (listing, by)
);

-- +goose Down
DROP TABLE reports;
DROP TABLE reviews;
DROP TABLE steps;
DROP TABLE orders;
DROP TABLE listing_facets;
DROP TABLE versions;
DROP TABLE listings;
DROP TABLE bundles;
