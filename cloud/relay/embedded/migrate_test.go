package embedded

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"github.com/locket-dev/locket/cloud/relay"
	"github.com/locket-dev/locket/cloud/relay/migrate"
	"github.com/locket-dev/locket/cloud/relay/storetest"
	"github.com/locket-dev/locket/sync/envelope"
)

// After migrating down to the first version and up again, all data is still there.
func TestMigrationsKeepData(t *testing.T) {
	dir, ctx := t.TempDir(), t.Context()
	s, err := Open(ctx, dir)
	check(t, err)
	h := storetest.NewHousehold(t, "migrated")
	for i, e := range h.Entries {
		var f *relay.Founding
		if i == 0 {
			f = &relay.Founding{Account: relay.AccountID(h.Root.Public())}
		}
		check(t, s.AppendLog(ctx, e, f, relay.Quota{}))
	}
	d := h.Delta(h.Owner, "kept")
	_, err = s.Append(ctx, h.Space, h.State.N(), []*envelope.Delta{d}, relay.Quota{}, time.Unix(1_790_000_000, 0))
	check(t, err)
	if _, err := Migrate(ctx, dir); err == nil {
		t.Fatal("migrated while it is served")
	}
	check(t, s.Close())

	m, err := Migrate(ctx, dir)
	check(t, err)
	steps, err := m.Status(ctx)
	check(t, err)
	if len(steps) < 2 || !steps[len(steps)-1].Applied {
		t.Fatalf("%+v", steps)
	}
	for range len(steps) - 1 {
		_, err := m.Down(ctx, false)
		check(t, err)
	}
	if _, err := m.Down(ctx, false); !errors.Is(err, migrate.ErrBottom) {
		t.Fatal("it would have destroyed all: ", err)
	}
	var version int
	check(t, m.db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version))
	if version != 1 {
		t.Errorf("user_version is %d", version)
	}
	check(t, m.Close())

	s, err = Open(ctx, dir) // this migrates up again
	check(t, err)
	page, err := s.After(ctx, h.Space, 0, 9, 1<<20)
	check(t, err)
	if len(page) != 1 || !bytes.Equal(page[0].Delta, d.Bytes()) {
		t.Error("the delta differs")
	}
	check(t, s.Close())
	m, err = Migrate(ctx, dir)
	check(t, err)
	defer m.Close()
	if again, err := m.Up(ctx); err != nil || len(again) != 0 {
		t.Fatal(again, err)
	}
	for range steps {
		_, err := m.Down(ctx, true)
		check(t, err)
	}
	var left int
	check(t, m.db.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%' AND name <> ?", migrate.Table).Scan(&left))
	if left > 0 {
		t.Errorf("%d tables are left", left)
	}
}
