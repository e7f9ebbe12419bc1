-- Payments by x402: what was sent to the facilitator, and what became of it. An
-- authorization is in one row, and so good for one order; an order has one row that
-- was not refused, so that two that pay it at once are not both sent.

-- +goose Up
CREATE TABLE x402_payments (
	id           text PRIMARY KEY, -- of the authorization: SHA-256 of its network, asset, payer and nonce
	of           text NOT NULL, -- the order
	buyer        text NOT NULL, -- the key whose money it becomes
	minor        bigint NOT NULL CHECK (minor > 0),
	currency     text NOT NULL,
	payer        text NOT NULL, -- an address on the network
	request      text NOT NULL, -- what the facilitator is sent, the same each time
	valid_before bigint NOT NULL, -- seconds; nobody can settle it afterwards
	state        text NOT NULL CHECK (state IN ('sent', 'unclear', 'refused', 'settled', 'booked')),
	tx           text NOT NULL DEFAULT '', -- the transaction's hash, once it is known
	extra        bigint NOT NULL DEFAULT 0, -- 1: it was refused, and the operator found it settled: it pays no order
	reason       text NOT NULL DEFAULT '', -- why it is not settled
	tries        bigint NOT NULL DEFAULT 0,
	busy         bigint NOT NULL DEFAULT 0, -- until when somebody is asking the facilitator, in seconds
	next         bigint NOT NULL DEFAULT 0, -- when it is asked again, in seconds
	at           bigint NOT NULL
);
CREATE UNIQUE INDEX x402_payments_of ON x402_payments (of) WHERE state <> 'refused' AND extra = 0;
CREATE UNIQUE INDEX x402_payments_tx ON x402_payments (tx) WHERE state IN ('settled', 'booked');
CREATE INDEX x402_payments_next ON x402_payments (next) WHERE state IN ('sent', 'settled');

CREATE TABLE x402_payouts (
	key      text PRIMARY KEY,
	id       text NOT NULL UNIQUE, -- SHA-256 of the key
	of       text NOT NULL, -- who asked: a key
	network  text NOT NULL,
	asset    text NOT NULL,
	address  text NOT NULL,
	minor    bigint NOT NULL CHECK (minor > 0),
	currency text NOT NULL,
	amount   text NOT NULL, -- in the asset's own units
	tx       text NOT NULL DEFAULT '', -- the transaction's hash, once the operator paid
	at       bigint NOT NULL
);
CREATE INDEX x402_payouts_open ON x402_payouts (of) WHERE tx = '';

-- +goose Down
DROP TABLE x402_payouts;
DROP TABLE x402_payments;
