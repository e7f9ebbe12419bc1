//go:build unix

package tabletest

import (
	"testing"

	"github.com/locket-dev/locket/cloud/market/postgres"
	"github.com/locket-dev/locket/cloud/market/tables"
	"github.com/locket-dev/locket/cloud/relay/pgtest"
)

// Databases provides the databases for one package's tests. Its zero value is ready; TestMain has
// to call Main of its cluster.
type Databases struct {
	pgtest.Cluster
}

// Each runs f with an empty database of each kind.
func (d *Databases) Each(t *testing.T, f func(*testing.T, *tables.DB)) {
	t.Run("sqlite", func(t *testing.T) { f(t, SQLite(t)) })
	t.Run("postgres", func(t *testing.T) { f(t, d.Postgres(t)) })
}

// Postgres returns an empty database of the cluster.
func (d *Databases) Postgres(tb testing.TB) *tables.DB {
	db, err := postgres.Open(tb.Context(), d.Database(tb))
	return closed(tb, db, err)
}

// SQLite returns an empty database in a temporary folder.
func SQLite(tb testing.TB) *tables.DB {
	db, err := tables.Open(tb.Context(), tb.TempDir())
	return closed(tb, db, err)
}

func closed(tb testing.TB, db *tables.DB, err error) *tables.DB {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := db.Close(); err != nil {
			tb.Error(err)
		}
	})
	return db
}
