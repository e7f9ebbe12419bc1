-- Reviews of a listing are numbered from 1, and the log has each by its number. What was
-- there before is numbered while the market runs. Of a
-- review that was deleted, signed is empty.

-- +goose Up
ALTER TABLE reviews ADD COLUMN number bigint NOT NULL DEFAULT 0; -- 0: not yet
CREATE INDEX reviews_unnumbered ON reviews (at) WHERE number = 0;
CREATE INDEX reviews_numbered ON reviews (listing, number, at);
DROP INDEX reviews_of;

-- +goose Down
CREATE INDEX reviews_of ON reviews (listing, at);
DROP INDEX reviews_numbered;
DROP INDEX reviews_unnumbered;
ALTER TABLE reviews DROP COLUMN number;
