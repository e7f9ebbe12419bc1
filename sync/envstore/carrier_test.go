package envstore

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/replica"
)

// liar is a remote that may show less than it has.
type liar struct {
	*Store
	hide func(replica.Placed) bool
	back uint64 // cursor to which it went back
	fail error
}

func (l *liar) Deltas(ctx context.Context, after uint64) ([]replica.Placed, error) {
	if l.fail != nil {
		return nil, l.fail
	}
	if l.back > 0 && after > l.back {
		return nil, replica.ErrAhead
	}
	page, err := l.Store.Deltas(ctx, after)
	if l.hide != nil {
		page = slices.DeleteFunc(page, l.hide)
	}
	return page, err
}

func carrier(t *testing.T, s *Store, name string, at replica.Remote) *Carrier {
	t.Helper()
	c, err := s.Carry(Carrier{Name: name, Remote: at, Self: phone.id, Owner: true})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Two remotes get the same deltas from one device and from others, by way of a
// device in the middle. Blobs and removals of bodies are carried, too.
func TestCarry(t *testing.T) {
	log, state := world(t)
	mine := newStore(t, t.TempDir(), log)
	one, other := newStore(t, t.TempDir(), log), newStore(t, t.TempDir(), log[:1])
	p, w := &author{actor: phone, state: state}, &author{actor: watch, state: state}
	gone := p.say(t, "mine")
	take(t, mine, gone)
	take(t, one, w.say(t, "theirs"), w.say(t, "theirs, too"))
	blob, err := mine.Upload(t.Context(), bytes.NewReader([]byte("a photo, sealed")))
	if err != nil {
		t.Fatal(err)
	}
	a, b := carrier(t, mine, "http://one", one), carrier(t, mine, "http://other", other)
	round := func() {
		t.Helper()
		for range 2 {
			if err := errors.Join(a.Round(t.Context()), b.Round(t.Context())); err != nil {
				t.Fatal(err)
			}
		}
	}
	round()
	if x, y, z := bodies(t, mine), bodies(t, one), bodies(t, other); x != y || x != z || !strings.Contains(x, "theirs, too") {
		t.Fatalf("%s\n%s\n%s", x, y, z)
	}
	if a.MissingDeltas() != 0 || b.MissingDeltas() != 0 || b.Standing().Log != 2 {
		t.Errorf("%+v", b.Standing())
	}
	for _, s := range []*Store{one, other} {
		f, err := os.Create(filepath.Join(t.TempDir(), "blob"))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Download(t.Context(), blob, f, 100); err != nil {
			t.Error(err)
		}
		f.Close()
	}
	if err := errors.Join(mine.Forget(t.Context(), []replica.Ref{{Member: phone.id, Position: gone.Header.Position()}}), mine.DeleteBlob(t.Context(), blob, nil)); err != nil {
		t.Fatal(err)
	}
	a, b = carrier(t, mine, "http://one", one), carrier(t, mine, "http://other", other) // after a restart
	round()
	for _, s := range []*Store{one, other} {
		left, err := s.folder.blobs()
		if err != nil || len(left) != 0 || strings.Contains(bodies(t, s), "mine") {
			t.Errorf("%v, %v, %s", left, err, bodies(t, s))
		}
	}
}

// A fault of a remote is reported with the remote's name, and does not stop the
// exchange with the other remote.
func TestFaultyRemoteDoesNotStopOthers(t *testing.T) {
	log, state := world(t)
	for name, tt := range map[string]struct {
		lie  func(l *liar)
		want error
	}{
		"withholds what it took": {func(l *liar) { l.hide = func(p replica.Placed) bool { return p.Cursor >= 1 } }, ErrWithholds},
		"went back":              {func(l *liar) { l.back = 1 }, ErrRolledBack},
		"is down":                {func(l *liar) { l.fail = io.ErrUnexpectedEOF }, io.ErrUnexpectedEOF},
	} {
		t.Run(name, func(t *testing.T) {
			mine := newStore(t, t.TempDir(), log)
			bad, good := &liar{Store: newStore(t, t.TempDir(), log)}, newStore(t, t.TempDir(), log)
			p := &author{actor: phone, state: state}
			a, b := carrier(t, mine, "http://bad", bad), carrier(t, mine, "http://good", good)
			take(t, mine, p.say(t, "one"), p.say(t, "two"))
			if name == "went back" {
				for range 2 {
					if err := a.Round(t.Context()); err != nil {
						t.Fatal(err)
					}
				}
			} else if name != "is down" {
				if err := a.Round(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			tt.lie(bad)
			take(t, mine, p.say(t, "three"))
			err := a.Round(t.Context())
			if !errors.Is(err, tt.want) || !strings.Contains(err.Error(), "http://bad") {
				t.Errorf("%v, want %v", err, tt.want)
			}
			if named := a.Standing().Trouble; (len(named) > 0) != (name != "is down") {
				t.Errorf("named: %q", named)
			}
			if err := b.Round(t.Context()); err != nil || bodies(t, good) != bodies(t, mine) {
				t.Errorf("the other remote: %v", err)
			}
		})
	}
}

// If this device's disk can't store a delta, the remote is not blamed, and the
// delta comes again.
func TestCarryToFailingDisk(t *testing.T) {
	log, state := world(t)
	mine, at := newStore(t, t.TempDir(), log), newStore(t, t.TempDir(), log)
	take(t, at, (&author{actor: watch, state: state}).say(t, "one"))
	path := mine.folder.deltaPath(chain{watch.id, 1}, 1)
	if err := os.MkdirAll(filepath.Join(path, "in the way"), 0o700); err != nil { // a rename fails
		t.Fatal(err)
	}
	c := carrier(t, mine, "http://one", at)
	if err := c.Round(t.Context()); err == nil || len(c.Standing().Trouble) > 0 || c.Standing().Cursor > 0 {
		t.Errorf("%v, %+v", err, c.Standing())
	}
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
	if err := c.Round(t.Context()); err != nil || !strings.Contains(bodies(t, mine), "one") {
		t.Errorf("%v, %s", err, bodies(t, mine))
	}
}

// If a log entry comes between the log and a delta that names it, the entry is
// requested, and nobody is blamed.
func TestCarryLogEntryThatCameBetween(t *testing.T) {
	log, state := world(t)
	mine, at := newStore(t, t.TempDir(), log[:1]), newStore(t, t.TempDir(), log[:1])
	c := carrier(t, mine, "http://one", &between{at, func() {
		if err := at.TakeEntry(log[1]); err != nil {
			t.Error(err)
		}
		take(t, at, (&author{actor: watch, state: state}).say(t, "one"))
	}})
	if err := c.Round(t.Context()); err != nil || !strings.Contains(bodies(t, mine), "one") || len(c.Standing().Trouble) > 0 {
		t.Errorf("%v, %s, %q", err, bodies(t, mine), c.Standing().Trouble)
	}
}

// between is a remote at which something happens before the first request for deltas.
type between struct {
	*Store
	do func()
}

func (b *between) Deltas(ctx context.Context, after uint64) ([]replica.Placed, error) {
	if b.do != nil {
		b.do()
		b.do = nil
	}
	return b.Store.Deltas(ctx, after)
}

// A delta that was sent after its author's removal, and that the store took
// before it knew, is reported. It does not block later deltas.
func TestCarryPastARemovedMember(t *testing.T) {
	log, state := world(t)
	mine := newStore(t, t.TempDir(), log)
	p, w := &author{actor: phone, state: state}, &author{actor: watch, state: state}
	first := w.say(t, "in time")
	take(t, mine, first, w.say(t, "late"), w.say(t, "later"), p.say(t, "mine"))
	removed := &envelope.Entry{Version: envelope.Version, Action: envelope.Remove, Space: spaceID, N: 3, Prev: state.Head(), At: 1_790_000_000,
		Epoch: 2, Removed: &watch.id, Last: []envelope.Position{first.Header.Position()},
		Wraps: []envelope.Wrap{{Keys: []byte("keys")}, {To: phone.id, Keys: []byte("keys")}}}
	if err := removed.Sign(envelope.KeySigner(root.key)); err != nil {
		t.Fatal(err)
	}
	at := newStore(t, t.TempDir(), append(log, removed))
	c := carrier(t, mine, "http://one", at)
	for range 2 {
		if err := c.Round(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if got := bodies(t, at); strings.Contains(got, "late") || !strings.Contains(got, "in time") || !strings.Contains(got, "mine") {
		t.Error(got)
	}
	if st := c.Standing(); c.MissingDeltas() != 0 || st.Failing || len(st.Trouble) != 1 || !strings.Contains(st.Trouble[0], "too late") {
		t.Errorf("%d, %q", c.MissingDeltas(), st.Trouble)
	}
}

// few is a relay that has as many chains of a member as it accepts.
type few struct {
	*Store
	of   memory.MemberID
	only uint64 // the only incarnation whose chain it has already
}

func (f few) Append(ctx context.Context, d *envelope.Delta) error {
	if d.Header.Member == f.of && d.Header.Incarnation != f.only {
		if d.Header.Seq > 1 {
			return envelope.ErrGap
		}
		return envelope.ErrChains
	}
	return f.Store.Append(ctx, d)
}

// Chains of another member beyond the limit are reported and do not block later
// deltas. This device's own chain is not skipped.
func TestCarryPastManyChains(t *testing.T) {
	log, state := world(t)
	mine, at := newStore(t, t.TempDir(), log), newStore(t, t.TempDir(), log)
	p, w, more := &author{actor: phone, state: state}, &author{actor: watch, state: state}, &author{actor: watch, state: state, inc: 1}
	take(t, mine, w.say(t, "before"), more.say(t, "one of many"), more.say(t, "and on"), w.say(t, "as ever"), p.say(t, "mine"))
	c := carrier(t, mine, "http://one", few{at, watch.id, 1})
	for range 2 {
		if err := c.Round(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	got := bodies(t, at)
	if strings.Contains(got, "many") || strings.Contains(got, "and on") {
		t.Errorf("it was sent: %s", got)
	}
	for _, want := range []string{"before", "as ever", "mine"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not sent: %s", want, got)
		}
	}
	if st := c.Standing(); c.MissingDeltas() != 0 || st.Failing || len(st.Trouble) != 1 || !strings.Contains(st.Trouble[0], "the most chains") {
		t.Errorf("%d, %q", c.MissingDeltas(), st.Trouble)
	}
	own := carrier(t, mine, "http://two", few{newStore(t, t.TempDir(), log), phone.id, 0})
	if err := own.Round(t.Context()); !errors.Is(err, envelope.ErrChains) {
		t.Errorf("of one's own: %v", err)
	}
}

// If two lives of one device said different things at two remotes, the second
// is reported with both heads.
func TestForkBetweenRemotes(t *testing.T) {
	log, state := world(t)
	mine, one, other := newStore(t, t.TempDir(), log), newStore(t, t.TempDir(), log), newStore(t, t.TempDir(), log)
	take(t, one, (&author{actor: watch, state: state}).say(t, "this"))
	take(t, other, (&author{actor: watch, state: state}).say(t, "that"))
	a, b := carrier(t, mine, "http://one", one), carrier(t, mine, "http://other", other)
	if err := a.Round(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.Round(t.Context())
	if got := b.Standing().Trouble; !b.Standing().Failing || len(got) != 1 || !strings.Contains(got[0], "http://other: fork of member "+watch.id.String()+" at 1") {
		t.Errorf("%q", got)
	}
}
