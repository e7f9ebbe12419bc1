-- The tenant is the account: it comes first in every key that a space or an
-- account has, so that rows of one tenant lie together and the tables can be
-- distributed by it. There are no foreign keys between rows of one space: what
-- writes them holds the row of the space, and what deletes it deletes them.

-- +goose Up
CREATE TABLE accounts (
	account bytea PRIMARY KEY, -- root key
	bytes   bigint NOT NULL,
	blobs   bigint NOT NULL,
	day     bigint NOT NULL,
	deltas  bigint NOT NULL
);
CREATE TABLE spaces (
	account  bytea  NOT NULL,
	space    bytea  NOT NULL,
	log_n    bigint NOT NULL,
	log_head bytea  NOT NULL,
	cursor   bigint NOT NULL, -- of the last delta, given out under this row's lock
	PRIMARY KEY (account, space)
);
CREATE TABLE directory ( -- whose a space is, for who knows only its id
	space   bytea PRIMARY KEY,
	account bytea NOT NULL
);
CREATE INDEX directory_of ON directory (account);
CREATE TABLE log (
	account bytea  NOT NULL,
	space   bytea  NOT NULL,
	n       bigint NOT NULL,
	entry   bytea  NOT NULL,
	PRIMARY KEY (account, space, n)
);
CREATE TABLE deltas (
	account     bytea   NOT NULL,
	space       bytea   NOT NULL,
	cursor      bigint  NOT NULL,
	member      bytea   NOT NULL,
	incarnation bigint  NOT NULL, -- the bits of a u64
	seq         bigint  NOT NULL,
	hash        bytea   NOT NULL, -- SHA-256 of the header
	header      bytea   NOT NULL,
	signature   bytea   NOT NULL,
	body        bytea,            -- null: taken away
	size        integer NOT NULL, -- that counts
	PRIMARY KEY (account, space, cursor),
	UNIQUE (account, space, member, incarnation, seq)
);
-- What is sealed does not compress.
ALTER TABLE deltas ALTER COLUMN body SET STORAGE EXTERNAL;
ALTER TABLE log ALTER COLUMN entry SET STORAGE EXTERNAL;
CREATE TABLE blobs (
	account bytea   NOT NULL,
	space   bytea   NOT NULL,
	id      bytea   NOT NULL,
	upload  bytea   NOT NULL, -- random: names the objects, so that a second upload has others
	author  bytea   NOT NULL,
	size    bigint  NOT NULL,
	at      bigint  NOT NULL, -- bytes that are here
	state   bytea,            -- of SHA-256 over them; null once done
	done    boolean NOT NULL,
	touched bigint  NOT NULL, -- s since 1970 of the last chunk; 0 once done
	PRIMARY KEY (account, space, id)
);
CREATE TABLE parts ( -- the chunks of what is not done, each an object
	account bytea  NOT NULL,
	space   bytea  NOT NULL,
	id      bytea  NOT NULL,
	at      bigint NOT NULL,
	upload  bytea  NOT NULL,
	name    text   NOT NULL,
	size    bigint NOT NULL,
	PRIMARY KEY (account, space, id, at)
);
CREATE TABLE chores ( -- uploads that someone has to look at, or whose objects have to go
	account bytea   NOT NULL,
	space   bytea   NOT NULL,
	id      bytea   NOT NULL,
	upload  bytea   NOT NULL,
	due     bigint  NOT NULL, -- s since 1970
	PRIMARY KEY (account, space, id, upload)
);
CREATE INDEX chores_due ON chores (due);
-- What no tenant has.
CREATE TABLE invites (
	hash bytea   PRIMARY KEY,
	used boolean NOT NULL
);
CREATE TABLE mailboxes (
	id      bytea   NOT NULL,
	n       integer NOT NULL,
	message bytea   NOT NULL,
	until   bigint  NOT NULL,
	PRIMARY KEY (id, n)
);
CREATE INDEX mailboxes_until ON mailboxes (until);
CREATE TABLE nonces (
	id    bytea  PRIMARY KEY,
	until bigint NOT NULL
);
CREATE INDEX nonces_until ON nonces (until);

-- +goose Down
DROP TABLE nonces, mailboxes, invites, chores, parts, blobs, deltas, log, directory, spaces, accounts;
