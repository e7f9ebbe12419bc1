package postgres

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/locket-dev/locket/cloud/relay/migrate"
)

// nothing is an [objects.Objects] that is never used.
type nothing struct{}

func (nothing) Put(context.Context, string, io.Reader) error { return nil }
func (nothing) Open(context.Context, string, int64) (io.ReadCloser, error) {
	return io.NopCloser(strings.NewReader("")), nil
}
func (nothing) Delete(context.Context, string) error { return nil }
func (nothing) Remove(context.Context, string) error { return nil }
func (nothing) Check(context.Context) error          { return nil }
func (nothing) Close() error                         { return nil }

// After migrating down to the first version and up again, all data is still there.
func TestMigrationsKeepData(t *testing.T) {
	url, dir := migrated(t), t.TempDir()
	s := store(t, url, dir)
	h, ds := settle(t, s, "kept")
	account, err := s.Account(t.Context(), accountOf(h))
	check(t, err)
	m, err := Migrate(url)
	check(t, err)
	defer m.Close()
	steps, err := m.Status(t.Context())
	check(t, err)
	for n := len(steps); n > 1; n-- {
		done, err := m.Down(t.Context(), false)
		check(t, err)
		if done.Version != int64(n) || done.Applied {
			t.Fatalf("%+v", done)
		}
	}
	if _, err := m.Down(t.Context(), false); !errors.Is(err, migrate.ErrBottom) {
		t.Fatal("it would have destroyed all: ", err)
	}
	done, err := m.Up(t.Context())
	check(t, err)
	if len(done) != len(steps)-1 {
		t.Fatalf("%+v", done)
	}
	if again, err := m.Up(t.Context()); err != nil || len(again) != 0 {
		t.Fatal(again, err)
	}
	page, err := s.After(t.Context(), h.Space, 0, 9, 1<<20)
	check(t, err)
	for i, d := range ds {
		if !bytes.Equal(page[i].Delta, d.Bytes()) {
			t.Errorf("delta %d differs", i)
		}
	}
	log, err := s.Log(t.Context(), h.Space, 0, 9)
	check(t, err)
	if len(log) != len(h.Entries) {
		t.Error("another log")
	}
	if now, err := s.Account(t.Context(), accountOf(h)); err != nil || now.Bytes != account.Bytes || now.Blobs != 2 {
		t.Errorf("%+v, %v", now, err)
	}
	// Migrated down completely, nothing is left; migrated up again, it serves.
	for range steps {
		_, err := m.Down(t.Context(), true)
		check(t, err)
	}
	conn, err := pgx.Connect(t.Context(), url)
	check(t, err)
	defer conn.Close(t.Context())
	var left int
	check(t, conn.QueryRow(t.Context(), "SELECT count(*) FROM pg_tables WHERE schemaname = 'public' AND tablename <> $1", migrate.Table).Scan(&left))
	if left > 0 {
		t.Errorf("%d tables are left", left)
	}
	_, err = m.Up(t.Context())
	check(t, err)
	settle(t, store(t, url, t.TempDir()), "anew")
}

// Tables of a future version are refused.
func TestNewerTablesAreRefused(t *testing.T) {
	url := migrated(t)
	conn, err := pgx.Connect(t.Context(), url)
	check(t, err)
	defer conn.Close(t.Context())
	_, err = conn.Exec(t.Context(), "INSERT INTO goose_db_version (version_id, is_applied) VALUES (1000, true)")
	check(t, err)
	if _, err := Open(t.Context(), url, nothing{}); !errors.Is(err, ErrTables) {
		t.Fatal(err)
	}
	m, err := Migrate(url)
	check(t, err)
	defer m.Close()
	if _, err := m.Up(t.Context()); !errors.Is(err, migrate.ErrNewer) {
		t.Fatal(err)
	}
}
