-- Checkpoints, and votes on them.

-- +goose Up
CREATE TABLE records (
	n      INTEGER PRIMARY KEY,
	space  BLOB NOT NULL REFERENCES spaces ON DELETE CASCADE,
	id     BLOB NOT NULL,
	about  BLOB NOT NULL, -- the checkpoint
	record BLOB NOT NULL,
	UNIQUE (space, id)
);

-- +goose Down
DROP TABLE records;
