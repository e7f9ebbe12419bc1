-- Appending in one round trip, several at once in one transaction: a run is
-- deltas of one chain, in order, as devices send them. What is not the plain
-- case gives null and has changed nothing: the relay then looks what it is.

-- +goose Up
-- +goose StatementBegin
CREATE FUNCTION append_run(
	_account bytea, _space bytea, _log_n bigint, _log_head bytea, -- where the log must be
	_member bytea, _incarnation bigint, _after bigint, _after_hash bytea, -- where the chain must end
	_hashes bytea[], _headers bytea[], _signatures bytea[], _bodies bytea[], _sizes int[],
	_bytes bigint, _day bigint, _most_bytes bigint, _most_deltas bigint -- what it adds, and the quota; 0 is none
) RETURNS bigint -- the cursor before the first
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
	_n bigint := cardinality(_hashes);
	_today bigint;
	_cursor bigint;
	_held record;
BEGIN
	PERFORM set_config('locket.account', encode(_account, 'hex'), true);
	-- Who holds a row may hold it for long, as long as a large space takes to
	-- delete: others' deltas in this transaction don't wait for that.
	SELECT a.bytes, a.day, a.deltas, s.cursor INTO _held FROM accounts a JOIN spaces s ON s.account = a.account
		WHERE a.account = _account AND s.account = _account AND s.space = _space AND s.log_n = _log_n AND s.log_head = _log_head
		FOR UPDATE SKIP LOCKED;
	IF NOT FOUND THEN
		RETURN NULL;
	END IF;
	_today := _n + CASE WHEN _held.day = _day THEN _held.deltas ELSE 0 END;
	IF _most_bytes > 0 AND _held.bytes + _bytes > _most_bytes OR _most_deltas > 0 AND _today > _most_deltas THEN
		RETURN NULL;
	END IF;
	-- A statement of its own, which sees what whoever held the rows before did.
	INSERT INTO deltas SELECT _account, _space, _held.cursor + i, _member, _incarnation, _after + i, hash, header, signature, body, size
		FROM unnest(_hashes, _headers, _signatures, _bodies, _sizes) WITH ORDINALITY AS run (hash, header, signature, body, size, i)
		WHERE (_after, _after_hash) IS NOT DISTINCT FROM coalesce(
			(SELECT (seq, hash) FROM deltas WHERE account = _account AND space = _space AND member = _member AND incarnation = _incarnation ORDER BY seq DESC LIMIT 1),
			(0::bigint, decode(repeat('00', 32), 'hex')));
	IF NOT FOUND THEN
		RETURN NULL;
	END IF;
	UPDATE spaces SET cursor = cursor + _n WHERE account = _account AND space = _space;
	UPDATE accounts SET bytes = bytes + _bytes, day = _day, deltas = _today WHERE account = _account;
	RETURN _held.cursor;
END $$;
-- +goose StatementEnd
REVOKE ALL ON FUNCTION append_run FROM PUBLIC;
GRANT EXECUTE ON FUNCTION append_run TO locket_relay;

-- +goose Down
DROP FUNCTION append_run;
