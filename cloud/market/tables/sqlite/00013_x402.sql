-- Payments by x402: what was sent to the facilitator, and what became of it. An
-- authorization is in one row, and so good for one order; an order has one row that
-- was not refused, so that two that pay it at once are not both sent.

-- +goose Up
CREATE TABLE x402_payments (
	id           TEXT PRIMARY KEY, -- of the authorization: SHA-256 of its network, asset, payer and nonce
	of           TEXT NOT NULL, -- the order
	buyer        TEXT NOT NULL, -- the key whose money it becomes
	minor        INTEGER NOT NULL CHECK (minor > 0),
	currency     TEXT NOT NULL,
	payer        TEXT NOT NULL, -- an address on the network
	request      TEXT NOT NULL, -- what the facilitator is sent, the same each time
	valid_before INTEGER NOT NULL, -- seconds; nobody can settle it afterwards
	state        TEXT NOT NULL CHECK (state IN ('sent', 'unclear', 'refused', 'settled', 'booked')),
	tx           TEXT NOT NULL DEFAULT '', -- the transaction's hash, once it is known
	extra        INTEGER NOT NULL DEFAULT 0, -- 1: it was refused, and the operator found it settled: it pays no order
	reason       TEXT NOT NULL DEFAULT '', -- why it is not settled
	tries        INTEGER NOT NULL DEFAULT 0,
	busy         INTEGER NOT NULL DEFAULT 0, -- until when somebody is asking the facilitator, in seconds
	next         INTEGER NOT NULL DEFAULT 0, -- when it is asked again, in seconds
	at           INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX x402_payments_of ON x402_payments (of) WHERE state <> 'refused' AND extra = 0;
CREATE UNIQUE INDEX x402_payments_tx ON x402_payments (tx) WHERE state IN ('settled', 'booked');
CREATE INDEX x402_payments_next ON x402_payments (next) WHERE state IN ('sent', 'settled');

CREATE TABLE x402_payouts (
	key      TEXT PRIMARY KEY,
	id       TEXT NOT NULL UNIQUE, -- SHA-256 of the key
	of       TEXT NOT NULL, -- who asked: a key
	network  TEXT NOT NULL,
	asset    TEXT NOT NULL,
	address  TEXT NOT NULL,
	minor    INTEGER NOT NULL CHECK (minor > 0),
	currency TEXT NOT NULL,
	amount   TEXT NOT NULL, -- in the asset's own units
	tx       TEXT NOT NULL DEFAULT '', -- the transaction's hash, once the operator paid
	at       INTEGER NOT NULL
) STRICT;
CREATE INDEX x402_payouts_open ON x402_payouts (of) WHERE tx = '';

-- +goose Down
DROP TABLE x402_payouts;
DROP TABLE x402_payments;
