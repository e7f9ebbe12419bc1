package postgres

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/locket-dev/locket/cloud/relay"
	"github.com/locket-dev/locket/cloud/relay/storetest"
	"github.com/locket-dev/locket/sync/envelope"
)

var now = time.Unix(1_790_000_000, 0)

// settle stores a household with deltas, a finished blob and an unfinished one.
func settle(t *testing.T, s *Store, name string) (*storetest.Household, []*envelope.Delta) {
	t.Helper()
	h := storetest.NewHousehold(t, name)
	for i, e := range h.Entries {
		var f *relay.Founding
		if i == 0 {
			f = &relay.Founding{Account: relay.AccountID(h.Root.Public())}
		}
		check(t, s.AppendLog(t.Context(), e, f, relay.Quota{}))
	}
	ds := []*envelope.Delta{h.Delta(h.Owner, "one"), h.Delta(h.Writer, "two")}
	_, err := s.Append(t.Context(), h.Space, h.State.N(), ds, relay.Quota{}, now)
	check(t, err)
	whole := []byte("the blob of " + name)
	_, err = s.WriteBlob(t.Context(), h.Space, sha256.Sum256(whole), h.Owner.ID, int64(len(whole)), 0, whole, relay.Quota{}, now)
	check(t, err)
	check(t, s.PutRecord(t.Context(), h.Space, relay.Record{ID: envelope.Hash{1}, About: envelope.Hash{1}, Bytes: whole}, relay.Quota{}))
	_, err = s.WriteBlob(t.Context(), h.Space, relay.BlobID{1}, h.Owner.ID, 100, 0, whole, relay.Quota{}, now)
	check(t, err)
	return h, ds
}

// ofTenants are the tables with tenants' rows.
var ofTenants = []string{"accounts", "spaces", "directory", "log", "deltas", "blobs", "parts", "records"}

// In the database itself, a transaction that names one account sees and changes nothing of another,
// in any table, and one that names none sees nothing at all.
func TestRowsOfAnotherTenant(t *testing.T) {
	s := store(t, migrated(t), t.TempDir())
	a, _ := settle(t, s, "a")
	b, _ := settle(t, s, "b")
	for _, table := range ofTenants {
		for _, leak := range leaks(t, s, a, b, table) {
			t.Errorf("%s: %s", table, leak)
		}
	}
}

// The test above detects a table whose rows are not separated, for whatever reason, and reports no
// other.
func TestTenantTestDetectsLeaks(t *testing.T) {
	url := migrated(t)
	s := store(t, url, t.TempDir())
	a, _ := settle(t, s, "a")
	b, _ := settle(t, s, "b")
	conn, err := pgx.Connect(t.Context(), url)
	check(t, err)
	defer conn.Close(t.Context())
	for _, open := range ofTenants {
		for without, undo := range map[string]string{
			"ALTER TABLE " + open + " DISABLE ROW LEVEL SECURITY":             "ALTER TABLE " + open + " ENABLE ROW LEVEL SECURITY",
			"CREATE POLICY hole ON " + open + " FOR SELECT USING (true)":      "DROP POLICY hole ON " + open,
			"ALTER POLICY tenant ON " + open + " WITH CHECK (true)":           "ALTER POLICY tenant ON " + open + " WITH CHECK (account = tenant())",
			"ALTER POLICY tenant ON " + open + " USING (account IS NOT NULL)": "ALTER POLICY tenant ON " + open + " USING (account = tenant())",
		} {
			_, err := conn.Exec(t.Context(), without)
			check(t, err)
			for _, table := range ofTenants {
				if n := len(leaks(t, s, a, b, table)); (n > 0) != (table == open) {
					t.Errorf("%s: %d leaks of %s", without, n, table)
				}
			}
			_, err = conn.Exec(t.Context(), undo)
			check(t, err)
		}
	}
}

// leaks returns which of a's rows in a table b, or somebody without an account, can see or change.
func leaks(t *testing.T, s *Store, a, b *storetest.Household, table string) (out []string) {
	t.Helper()
	theirs := a.Root.Public()
	found := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	as := func(account string, f func(pgx.Tx)) {
		t.Helper()
		err := pgx.BeginFunc(t.Context(), s.pool, func(tx pgx.Tx) error {
			if account != "" {
				if _, err := tx.Exec(t.Context(), name, account); err != nil {
					return err
				}
			}
			f(tx)
			return errors.New("undo")
		})
		if err == nil || err.Error() != "undo" {
			t.Fatal(err)
		}
	}
	count := func(tx pgx.Tx, where string, args ...any) (n int) {
		t.Helper()
		check(t, tx.QueryRow(t.Context(), "SELECT count(*) FROM "+table+where, args...).Scan(&n))
		return n
	}
	as(hex.EncodeToString(theirs), func(tx pgx.Tx) {
		if count(tx, "") == 0 {
			t.Errorf("%s: its own rows are not there", table)
		}
	})
	for _, who := range []string{hex.EncodeToString(b.Root.Public()), "", "00"} {
		as(who, func(tx pgx.Tx) {
			if n := count(tx, " WHERE account = $1", theirs); n > 0 {
				found("%d rows of another", n)
			}
			if n := count(tx, ""); n > 0 && len(who) < 64 {
				found("%d rows for nobody", n)
			}
		})
		for _, do := range []string{"UPDATE " + table + " SET account = account WHERE account = $1", "DELETE FROM " + table + " WHERE account = $1"} {
			as(who, func(tx pgx.Tx) {
				done, err := tx.Exec(t.Context(), do, theirs)
				if err == nil && done.RowsAffected() > 0 {
					found("%s: %d rows", do, done.RowsAffected())
				}
			})
		}
	}
	// Nor can a row be inserted there.
	as(hex.EncodeToString(b.Root.Public()), func(tx pgx.Tx) {
		_, err := tx.Exec(t.Context(), "UPDATE "+table+" SET account = $1", theirs)
		var refused *pgconn.PgError
		if !errors.As(err, &refused) || refused.Code != "42501" {
			found("a row was moved to another: %v", err)
		}
	})
	return out
}

// Through the store: every method, called by the owner of another space.
func TestSpacesOfAnotherTenant(t *testing.T) {
	s := store(t, migrated(t), t.TempDir())
	a, ds := settle(t, s, "a")
	b, _ := settle(t, s, "b")
	ctx := t.Context()
	// Somebody who could make the store believe that a's space belongs to b would still get
	// nothing.
	s.known.set(a.Space, relay.AccountID(b.Root.Public()))
	mislead := func() { s.known.set(a.Space, relay.AccountID(b.Root.Public())) }
	err := s.read(ctx, relay.AccountID(b.Root.Public()), func(pgx.Rows) error { t.Error("a row of another"); return nil },
		"SELECT 1 FROM deltas WHERE space = $1", a.Space[:])
	check(t, err)
	head, err := s.Space(ctx, a.Space)
	check(t, err)
	if head.Account != relay.AccountID(a.Root.Public()) || head.Cursor != 2 {
		t.Fatalf("%+v", head)
	}
	mislead()
	if cursors, err := s.Append(ctx, a.Space, a.State.N(), ds, relay.Quota{}, now); err != nil || cursors[1] != 2 {
		t.Fatal(cursors, err)
	}
	mislead()
	if _, err := s.Blob(ctx, a.Space, relay.BlobID{1}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Blob(ctx, b.Space, sha256.Sum256([]byte("the blob of a"))); !errors.Is(err, relay.ErrNotFound) {
		t.Fatal(err)
	}
}

// A login that bypasses row-level security is refused, and so is one without the role, or without
// the tables.
func TestRoleIsRequired(t *testing.T) {
	url := migrated(t)
	conn, err := pgx.Connect(t.Context(), url)
	check(t, err)
	defer conn.Close(t.Context())
	exec := func(sql string) {
		t.Helper()
		_, err := conn.Exec(t.Context(), sql)
		check(t, err)
	}
	refused := func(why, url string, want error) {
		t.Helper()
		s, err := Open(t.Context(), url, nothing{})
		if err == nil {
			s.Close()
		}
		if !errors.Is(err, want) {
			t.Errorf("%s: %v", why, err)
		}
	}
	exec("CREATE ROLE stranger LOGIN")
	exec("CREATE ROLE server LOGIN IN ROLE locket_relay")
	refused("not of the role", strings.Replace(url, "postgres@", "stranger@", 1), ErrLogin)
	if _, err := OpenSnapshot(t.Context(), strings.Replace(url, "postgres@", "server@", 1), nothing{}); !errors.Is(err, ErrLogin) {
		t.Errorf("a backup by a login that is not of the role: %v", err)
	}
	store(t, strings.Replace(url, "postgres@", "server@", 1), t.TempDir())
	exec("ALTER TABLE deltas OWNER TO locket_relay")
	refused("owner", url, ErrRole)
	exec("ALTER TABLE deltas OWNER TO postgres")
	refused("no tables", cluster.Database(t), ErrTables)
	m, err := Migrate(url)
	check(t, err)
	defer m.Close()
	_, err = m.Down(t.Context(), false)
	check(t, err)
	refused("older tables", url, ErrTables)
}
