-- How many bytes the orders have that moved with each listing. A sum over all orders at each
-- move would take longer with each of them.

-- +goose Up
ALTER TABLE origins ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
UPDATE origins SET bytes = (SELECT coalesce(sum(length(chain) + coalesce(length(review), 0)), 0) FROM moved WHERE moved.origin = origins.id AND moved.seller = origins.seller AND moved.market = origins.market);

-- +goose Down
ALTER TABLE origins DROP COLUMN bytes;
