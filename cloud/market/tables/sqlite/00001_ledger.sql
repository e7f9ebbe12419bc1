-- The ledger: who has how much. A transfer takes from one account and gives to
-- another of the same currency in one row, so that no row can make or lose
-- money. The balances follow from the transfers by a trigger.

-- +goose Up
CREATE TABLE ledger_accounts (
	id       INTEGER PRIMARY KEY,
	kind     TEXT NOT NULL CHECK (kind IN ('provider', 'buyer', 'seller', 'escrow', 'fees')),
	owner    TEXT NOT NULL,
	currency TEXT NOT NULL,
	holder   INTEGER, -- of an escrow: the buyer's account that its money came from
	balance  INTEGER NOT NULL DEFAULT 0,
	UNIQUE (kind, owner, currency),
	UNIQUE (id, currency),
	FOREIGN KEY (holder, currency) REFERENCES ledger_accounts (id, currency),
	CHECK ((kind = 'escrow') = (holder IS NOT NULL)),
	-- A provider holds what the others have, and so is below zero or at it.
	CHECK (CASE kind WHEN 'provider' THEN balance BETWEEN -1000000000000000000 AND 0 ELSE balance BETWEEN 0 AND 1000000000000000000 END)
) STRICT;

CREATE TABLE ledger_bookings (
	id      INTEGER PRIMARY KEY,
	key     TEXT NOT NULL UNIQUE, -- whoever books names the booking; once
	kind    TEXT NOT NULL,
	content BLOB NOT NULL, -- SHA-256 of what was booked
	at      INTEGER NOT NULL -- ms since 1970
) STRICT;

CREATE TABLE ledger_transfers (
	id       INTEGER PRIMARY KEY,
	booking  INTEGER NOT NULL REFERENCES ledger_bookings,
	debit    INTEGER NOT NULL, -- the account that it is taken from
	credit   INTEGER NOT NULL CHECK (credit <> debit),
	currency TEXT NOT NULL,
	amount   INTEGER NOT NULL CHECK (amount BETWEEN 1 AND 1000000000000000), -- minor units
	FOREIGN KEY (debit, currency) REFERENCES ledger_accounts (id, currency),
	FOREIGN KEY (credit, currency) REFERENCES ledger_accounts (id, currency)
) STRICT;
CREATE INDEX ledger_debits ON ledger_transfers (debit, id);
CREATE INDEX ledger_credits ON ledger_transfers (credit, id);

-- +goose StatementBegin
CREATE TRIGGER ledger_post AFTER INSERT ON ledger_transfers BEGIN
	UPDATE ledger_accounts SET balance = balance - NEW.amount WHERE id = NEW.debit;
	UPDATE ledger_accounts SET balance = balance + NEW.amount WHERE id = NEW.credit;
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER ledger_transfers_stay BEFORE UPDATE ON ledger_transfers BEGIN SELECT RAISE(ABORT, 'a transfer is never changed'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER ledger_transfers_kept BEFORE DELETE ON ledger_transfers BEGIN SELECT RAISE(ABORT, 'a transfer is never deleted'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER ledger_bookings_stay BEFORE UPDATE ON ledger_bookings BEGIN SELECT RAISE(ABORT, 'a booking is never changed'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER ledger_accounts_empty BEFORE INSERT ON ledger_accounts WHEN NEW.balance <> 0 BEGIN SELECT RAISE(ABORT, 'an account begins with nothing'); END;
-- +goose StatementEnd

-- +goose Down
DROP TABLE ledger_transfers;
DROP TABLE ledger_bookings;
DROP TABLE ledger_accounts;
