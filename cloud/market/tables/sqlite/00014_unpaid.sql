-- Orders that were never paid are deleted some time after their end.

-- +goose Up
CREATE INDEX orders_unpaid ON orders (moved) WHERE phase IN ('ordered', 'expired');

-- +goose Down
DROP INDEX orders_unpaid;
