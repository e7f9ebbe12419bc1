-- Row-level security. The relay works as locket_relay, which owns nothing and
-- sees the rows of the one account that its transaction names. locket_operator
-- reads all, for a backup. Both are roles of the whole cluster, which a login
-- is made a member of; they stay when the tables go.

-- +goose Up
-- +goose StatementBegin
DO $$
DECLARE name text;
BEGIN
	FOREACH name IN ARRAY ARRAY['locket_relay', 'locket_operator'] LOOP
		BEGIN
			IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = name) THEN
				EXECUTE format('CREATE ROLE %I NOLOGIN', name);
			END IF;
		EXCEPTION WHEN duplicate_object OR unique_violation THEN
			NULL; -- another database of the cluster was first
		END;
	END LOOP;
END $$;
-- +goose StatementEnd

CREATE FUNCTION tenant() RETURNS bytea LANGUAGE sql STABLE PARALLEL SAFE
	RETURN decode(current_setting('locket.account', true), 'hex');

-- Whose a space is can be asked for one space at a time, and not listed: the
-- table's owner is let past its policies here, and for this alone.
CREATE FUNCTION account_of(wanted bytea) RETURNS bytea LANGUAGE sql STABLE SECURITY DEFINER
	RETURN (SELECT account FROM directory WHERE space = wanted);
REVOKE ALL ON FUNCTION account_of(bytea) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION account_of(bytea) TO locket_relay;

-- +goose StatementBegin
DO $$
DECLARE name text;
BEGIN
	FOREACH name IN ARRAY ARRAY['accounts', 'spaces', 'directory', 'log', 'deltas', 'blobs', 'parts'] LOOP
		EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
		IF name <> 'directory' THEN
			EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
		END IF;
		EXECUTE format('CREATE POLICY tenant ON %I TO locket_relay USING (account = tenant()) WITH CHECK (account = tenant())', name);
		EXECUTE format('CREATE POLICY operator ON %I FOR SELECT TO locket_operator USING (true)', name);
		EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %I TO locket_relay', name);
	END LOOP;
END $$;
-- +goose StatementEnd
GRANT SELECT, INSERT, UPDATE, DELETE ON chores, invites, mailboxes, nonces TO locket_relay;
GRANT SELECT ON accounts, spaces, directory, log, deltas, blobs, parts, chores, invites TO locket_operator;
GRANT SELECT ON goose_db_version TO locket_relay, locket_operator;

-- +goose Down
REVOKE ALL ON accounts, spaces, directory, log, deltas, blobs, parts, chores, invites, mailboxes, nonces, goose_db_version FROM locket_relay, locket_operator;
-- +goose StatementBegin
DO $$
DECLARE name text;
BEGIN
	FOREACH name IN ARRAY ARRAY['accounts', 'spaces', 'directory', 'log', 'deltas', 'blobs', 'parts'] LOOP
		EXECUTE format('DROP POLICY tenant ON %I', name);
		EXECUTE format('DROP POLICY operator ON %I', name);
		EXECUTE format('ALTER TABLE %I NO FORCE ROW LEVEL SECURITY', name);
		EXECUTE format('ALTER TABLE %I DISABLE ROW LEVEL SECURITY', name);
	END LOOP;
END $$;
-- +goose StatementEnd
DROP FUNCTION account_of(bytea), tenant();
