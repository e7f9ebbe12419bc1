-- The ledger: who has how much. A transfer takes from one account and gives to
-- another of the same currency in one row, so that no row can make or lose
-- money. The balances follow from the transfers by a trigger.

-- +goose Up
CREATE TABLE ledger_accounts (
	id       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	kind     text NOT NULL CHECK (kind IN ('provider', 'buyer', 'seller', 'escrow', 'fees')),
	owner    text NOT NULL,
	currency text NOT NULL,
	holder   bigint, -- of an escrow: the buyer's account that its money came from
	balance  bigint NOT NULL DEFAULT 0,
	UNIQUE (kind, owner, currency),
	UNIQUE (id, currency),
	FOREIGN KEY (holder, currency) REFERENCES ledger_accounts (id, currency),
	CHECK ((kind = 'escrow') = (holder IS NOT NULL)),
	-- A provider holds what the others have, and so is below zero or at it.
	CHECK (CASE kind WHEN 'provider' THEN balance BETWEEN -1000000000000000000 AND 0 ELSE balance BETWEEN 0 AND 1000000000000000000 END)
);

CREATE TABLE ledger_bookings (
	id      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	key     text NOT NULL UNIQUE, -- whoever books names the booking; once
	kind    text NOT NULL,
	content bytea NOT NULL, -- SHA-256 of what was booked
	at      bigint NOT NULL -- ms since 1970
);

CREATE TABLE ledger_transfers (
	id       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	booking  bigint NOT NULL REFERENCES ledger_bookings,
	debit    bigint NOT NULL, -- the account that it is taken from
	credit   bigint NOT NULL CHECK (credit <> debit),
	currency text NOT NULL,
	amount   bigint NOT NULL CHECK (amount BETWEEN 1 AND 1000000000000000), -- minor units
	FOREIGN KEY (debit, currency) REFERENCES ledger_accounts (id, currency),
	FOREIGN KEY (credit, currency) REFERENCES ledger_accounts (id, currency)
);
CREATE INDEX ledger_debits ON ledger_transfers (debit, id);
CREATE INDEX ledger_credits ON ledger_transfers (credit, id);

-- +goose StatementBegin
CREATE FUNCTION ledger_post() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	UPDATE ledger_accounts SET balance = balance - NEW.amount WHERE id = NEW.debit;
	UPDATE ledger_accounts SET balance = balance + NEW.amount WHERE id = NEW.credit;
	RETURN NULL;
END $$;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE FUNCTION ledger_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	RAISE EXCEPTION '%', TG_ARGV[0];
END $$;
-- +goose StatementEnd
CREATE TRIGGER ledger_post AFTER INSERT ON ledger_transfers FOR EACH ROW EXECUTE FUNCTION ledger_post();
CREATE TRIGGER ledger_transfers_stay BEFORE UPDATE OR DELETE ON ledger_transfers FOR EACH ROW EXECUTE FUNCTION ledger_refuse('a transfer is never changed or deleted');
CREATE TRIGGER ledger_bookings_stay BEFORE UPDATE ON ledger_bookings FOR EACH ROW EXECUTE FUNCTION ledger_refuse('a booking is never changed');
CREATE TRIGGER ledger_accounts_empty BEFORE INSERT ON ledger_accounts FOR EACH ROW WHEN (NEW.balance <> 0) EXECUTE FUNCTION ledger_refuse('an account begins with nothing');

-- +goose Down
DROP TABLE ledger_transfers;
DROP TABLE ledger_bookings;
DROP TABLE ledger_accounts;
DROP FUNCTION ledger_post(), ledger_refuse();
