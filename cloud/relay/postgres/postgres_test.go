package postgres

import (
	"os"
	"testing"

	"github.com/locket-dev/locket/cloud/relay"
	"github.com/locket-dev/locket/cloud/relay/objects"
	"github.com/locket-dev/locket/cloud/relay/pgtest"
	"github.com/locket-dev/locket/cloud/relay/storetest"
)

var cluster pgtest.Cluster

func TestMain(m *testing.M) { os.Exit(cluster.Main(m)) }

// migrated returns a database with the tables.
func migrated(t *testing.T) string {
	t.Helper()
	url := cluster.Database(t)
	m, err := Migrate(url)
	check(t, err)
	defer m.Close()
	_, err = m.Up(t.Context())
	check(t, err)
	return url
}

func store(t *testing.T, url, dir string) *Store {
	t.Helper()
	blobs, err := objects.OpenFolder(dir)
	check(t, err)
	s, err := Open(t.Context(), url, blobs)
	check(t, err)
	t.Cleanup(func() { check(t, s.Close()) })
	return s
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T) func() relay.Store {
		url, dir := migrated(t), t.TempDir()
		return func() relay.Store { return store(t, url, dir) }
	})
}

func TestStoreWithExactAppend(t *testing.T) {
	storetest.Run(t, func(t *testing.T) func() relay.Store {
		url, dir := migrated(t), t.TempDir()
		return func() relay.Store { return storetest.ExactStore(store(t, url, dir)) }
	})
}

func TestPool(t *testing.T) {
	s := store(t, migrated(t), t.TempDir())
	used, idle, most, _ := s.Pool()
	if used != 0 || idle == 0 || most < idle {
		t.Errorf("%d in use, %d idle, %d allowed", used, idle, most)
	}
	c, err := s.pool.Acquire(t.Context())
	check(t, err)
	defer c.Release()
	if used, _, _, _ := s.Pool(); used != 1 {
		t.Errorf("%d in use, want 1", used)
	}
}

// An operator can set a lower number of connections than the default.
func TestPoolOfURL(t *testing.T) {
	for said, want := range map[string]int32{"": conns, "pool_max_conns=3": 3, "pool_max_conns=40": 40} {
		pool, err := connect(t.Context(), "postgres://relay@127.0.0.1:1/relay?"+said)
		check(t, err)
		if got := pool.Config().MaxConns; got < want || said != "" && got != want {
			t.Errorf("%q: %d connections, want %d", said, got, want)
		}
		pool.Close()
	}
}
