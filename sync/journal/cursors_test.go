package journal_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/replica"
)

// numbered is a relay that gives its deltas other cursors.
type numbered struct {
	replica.Remote
	change func(after uint64, page []replica.Placed)
}

func (n numbered) Deltas(ctx context.Context, after uint64) ([]replica.Placed, error) {
	page, err := n.Remote.Deltas(ctx, after)
	if err == nil {
		n.change(after, page)
	}
	return page, err
}

// threeDeltas makes three deltas for b, which then meets a relay that changes their cursors.
func threeDeltas(t *testing.T, change func(after uint64, page []replica.Placed)) (b *member) {
	a, b := pair(t)
	for n := range byte(3) {
		a.say(fact(n+1, "Fact "+string(rune('A'+n))+"."))
		a.sync()
	}
	b.close()
	b.remote = func(r replica.Remote) replica.Remote { return numbered{r, change} }
	b.open()
	return b
}

// stays checks that a round ends at a cursor that is not the next one, without moving, and that
// everything is taken from an honest relay.
func (m *member) stays(cursor uint64) {
	m.t.Helper()
	if err := m.Sync(m.t.Context()); !errors.Is(err, envelope.ErrForm) {
		m.t.Errorf("numbers that don't follow: %v", err)
	}
	if st, err := m.journal().State(m.t.Context()); err != nil || st.Cursor != cursor {
		m.t.Errorf("it stands at %d, want %d, %v", st.Cursor, cursor, err)
	}
	m.close()
	m.remote = nil
	m.open()
	m.sync()
	if n := len(m.knows()); n != 3 {
		m.t.Errorf("it knows %d facts: %q", n, m.knows())
	}
}

// A relay that leaves out cursors, or begins them again, does not change a
// member's position.
func TestCursorsWithGaps(t *testing.T) {
	for name, change := range map[string]func(after uint64, page []replica.Placed){
		"left out": func(_ uint64, page []replica.Placed) {
			for i := range page {
				page[i].Cursor++
			}
		},
		"from the front again": func(_ uint64, page []replica.Placed) {
			for i := range page {
				page[i].Cursor--
			}
		},
	} {
		t.Run(name, func(t *testing.T) { threeDeltas(t, change).stays(0) })
	}
}

// The same holds if the relay lies while everything is read again.
func TestCursorsWithGapsOnRereading(t *testing.T) {
	rounds := 0
	b := threeDeltas(t, func(after uint64, page []replica.Placed) {
		if after == 0 {
			rounds++
		}
		switch {
		case rounds == 1 && len(page) == 3:
			page[1].Delta = page[0].Delta // it should not serve the first delta again
		case rounds == 2:
			for i := range page {
				page[i].Cursor += 5
			}
		}
	})
	b.stays(1)
	if rounds < 2 {
		t.Error("not all was read again")
	}
}

// forgetful is a relay that claims that every place but the first is past its end.
type forgetful struct{ replica.Remote }

func (f forgetful) Deltas(ctx context.Context, after uint64) ([]replica.Placed, error) {
	if after > 0 {
		return nil, replica.ErrAhead
	}
	return f.Remote.Deltas(ctx, after)
}

// A relay that claims to end before its known end is reported.
func TestRelayEndMovesBack(t *testing.T) {
	b := threeDeltas(t, func(uint64, []replica.Placed) {})
	b.sync()
	b.close()
	b.remote = func(r replica.Remote) replica.Remote { return forgetful{r} }
	b.open()
	if err := b.Sync(t.Context()); !errors.Is(err, replica.ErrRolledBack) {
		t.Errorf("it says that it ends at the first: %v", err)
	}
}

// ends is a relay that has no deltas beyond a cursor.
type ends struct {
	replica.Remote
	at *uint64
}

func (e ends) Deltas(ctx context.Context, after uint64) ([]replica.Placed, error) {
	page, err := e.Remote.Deltas(ctx, after)
	for i, p := range page {
		if p.Cursor > *e.at {
			return page[:i], err
		}
	}
	return page, err
}

// A relay that now ends before what it had shown is also reported if not
// everything before that could be taken.
func TestRelayEndMovesBackBeforeShown(t *testing.T) {
	a, b := pair(t)
	c := a.let(a.url, envelope.Writer, nil)
	for n, m := range []*member{a, a, c} {
		m.say(fact(byte(n+1), "Fact "+string(rune('A'+n))+"."))
		m.sync()
	}
	b.close()
	b.remote = func(r replica.Remote) replica.Remote {
		return numbered{r, func(after uint64, page []replica.Placed) {
			if after == 0 && len(page) == 3 {
				page[1].Delta = page[0].Delta
			}
		}}
	}
	b.open()
	if err := b.Sync(t.Context()); err == nil || b.memory(memory.ID{3}) == nil {
		t.Fatalf("what came after the lie was not taken, %v", err)
	}
	b.close()
	at := uint64(1)
	b.remote = func(r replica.Remote) replica.Remote { return ends{r, &at} }
	b.open()
	if err := b.Sync(t.Context()); !errors.Is(err, replica.ErrRolledBack) {
		t.Errorf("it ends at 1, and had shown 3: %v", err)
	}
}

// A restored store that is not shown its own later deltas finds its place taken
// when it sends. It continues under another incarnation.
func TestRestoredBackupWithHiddenDeltas(t *testing.T) {
	a, b := pair(t)
	a.say(fact(1, "Before the backup."))
	a.sync()
	a.close()
	backup := t.TempDir()
	kept, now := os.DirFS(filepath.Join(a.dir, "store")), filepath.Join(a.dir, "store")
	if err := os.CopyFS(backup, kept); err != nil {
		t.Fatal(err)
	}
	a.open()
	a.say(fact(2, "After the backup."))
	a.sync()
	a.close()
	if err := errors.Join(os.RemoveAll(now), os.CopyFS(now, os.DirFS(backup))); err != nil {
		t.Fatal(err)
	}
	at := uint64(1)
	a.remote = func(r replica.Remote) replica.Remote { return ends{r, &at} }
	a.open()
	a.say(fact(3, "After it was put back."))
	a.sync()
	a.named("put back")
	at = 100
	a.sync()
	b.sync()
	if !slices.Equal(a.knows(), b.knows()) || len(a.knows()) != 3 {
		t.Errorf("they know\n%q\n%q", a.knows(), b.knows())
	}
}
