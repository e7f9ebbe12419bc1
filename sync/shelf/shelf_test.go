package shelf

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/replica"
)

// actor is one who signs.
type actor struct {
	id  memory.MemberID
	key ed25519.PrivateKey
}

func newActor(name string) actor {
	seed := sha256.Sum256([]byte("locket shelf test " + name))
	a := actor{key: ed25519.NewKeyFromSeed(seed[:])}
	copy(a.id[:], name+"--------")
	return a
}

var (
	root    = actor{key: newActor("root").key}
	phone   = newActor("phone")
	watch   = newActor("watch")
	theirs  = newActor("stranger")
	spaceID = memory.SpaceID{1, 2, 3}
)

func (a actor) member() *envelope.Member {
	return &envelope.Member{ID: a.id, Key: a.key.Public().(ed25519.PublicKey), Recipient: "age1pq1" + string(a.id[:]), Role: envelope.Owner}
}

// world makes the log of a space of two owners.
func world(t *testing.T) (log []*envelope.Entry, state *envelope.State) {
	t.Helper()
	state = new(envelope.State)
	add := func(by actor, e *envelope.Entry) {
		e.Version, e.Space, e.N, e.Prev, e.Author, e.At, e.Epoch = envelope.Version, spaceID, state.N()+1, state.Head(), by.id, 1_790_000_000, 1
		if err := errors.Join(e.Sign(envelope.KeySigner(by.key)), state.Append(e)); err != nil {
			t.Fatal(err)
		}
		log = append(log, e)
	}
	wrap := func(ids ...memory.MemberID) (out []envelope.Wrap) {
		for _, id := range ids {
			out = append(out, envelope.Wrap{To: id, Keys: []byte("keys")})
		}
		return out
	}
	add(root, &envelope.Entry{Action: envelope.Found, Root: root.key.Public().(ed25519.PublicKey), Recovery: "age1pq1recovery", Member: phone.member(),
		Wraps: wrap(memory.MemberID{}, phone.id)})
	add(phone, &envelope.Entry{Action: envelope.Add, Member: watch.member(), Wraps: wrap(watch.id)})
	return log, state
}

// author says one thing after another.
type author struct {
	actor
	state *envelope.State
	last  envelope.Link
	inc   uint64
}

func (a *author) say(t *testing.T, text string) *envelope.Delta {
	t.Helper()
	h := envelope.Header{Version: envelope.Version, Space: spaceID, Member: a.id, Incarnation: a.inc + 1, Seq: a.last.Seq + 1, Prev: a.last.Hash,
		Head: a.state.Head(), Epoch: 1}
	d, err := envelope.Sign(h, []byte(text), envelope.KeySigner(a.key))
	if err != nil {
		t.Fatal(err)
	}
	a.last = d.Header.Next()
	return d
}

func newShelf(t *testing.T, dir string, log []*envelope.Entry) *Shelf {
	t.Helper()
	s, err := Open(dir, log[0].Bytes())
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range log {
		if err := s.TakeEntry(e); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func take(t *testing.T, s *Shelf, ds ...*envelope.Delta) {
	t.Helper()
	for _, d := range ds {
		if _, err := s.Take(d); err != nil {
			t.Fatal(err)
		}
	}
}

// bodies are what a shelf holds, in no order of their own.
func bodies(t *testing.T, s *Shelf) string {
	t.Helper()
	var out []string
	seen := map[replica.Ref]bool{}
	for _, r := range s.since(0) {
		if seen[r] {
			continue
		}
		seen[r] = true
		d, err := s.read(r)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, fmt.Sprintf("%s/%d=%s", r.Member, r.Seq, d.Body))
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

// What is on a shelf stands as it was after it is opened again, and a crash
// between a file and its line is put in order.
func TestOpenAgain(t *testing.T) {
	log, state := world(t)
	dir := t.TempDir()
	s := newShelf(t, dir, log)
	p, w := &author{actor: phone, state: state}, &author{actor: watch, state: state}
	first := p.say(t, "one")
	take(t, s, first, w.say(t, "two"), p.say(t, "three"))
	if err := s.Forget(t.Context(), []replica.Ref{{Member: phone.id, Position: first.Header.Position()}}); err != nil {
		t.Fatal(err)
	}
	want := bodies(t, s)
	order := filepath.Join(dir, spaceID.String(), "order")
	b, err := os.ReadFile(order)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(order, b[:len(b)-4], 0o600); err != nil { // the last line is torn
		t.Fatal(err)
	}
	again, err := Open(dir, log[0].Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if got := bodies(t, again); got != want || len(again.since(0)) != 3 || again.log.N() != 2 {
		t.Errorf("%s, want %s", got, want)
	}
	if fresh, err := again.Take(first); err != nil || fresh {
		t.Errorf("what was taken away is back: %v, %v", fresh, err)
	}
	if placed, err := again.Deltas(t.Context(), 0); err != nil || len(placed) != 3 || placed[2].Cursor != 3 {
		t.Errorf("%+v, %v", placed, err)
	}
}

// Nothing gets onto a shelf that no member signed, in its place and its chain.
func TestTakeRefuses(t *testing.T) {
	log, state := world(t)
	s := newShelf(t, t.TempDir(), log)
	p := &author{actor: phone, state: state}
	one, two, three := p.say(t, "one"), p.say(t, "two"), p.say(t, "three")
	take(t, s, one)
	if _, err := s.Take(three); !errors.Is(err, envelope.ErrGap) {
		t.Errorf("with a gap: %v", err)
	}
	forked := (&author{actor: phone, state: state}).say(t, "another one")
	var fork *envelope.ForkError
	if _, err := s.Take(forked); !errors.As(err, &fork) {
		t.Errorf("another in its place: %v", err)
	}
	stranger := (&author{actor: theirs, state: state}).say(t, "let me in")
	if _, err := s.Take(stranger); !errors.Is(err, envelope.ErrRule) {
		t.Errorf("a stranger's: %v", err)
	}
	bad := *two
	bad.Body = []byte("owt")
	if _, err := s.Take(&bad); !errors.Is(err, envelope.ErrBody) {
		t.Errorf("another body: %v", err)
	}
	bad = *two
	bad.Signature = bytes.Clone(two.Signature)
	bad.Signature[3] ^= 1
	if _, err := s.Take(&bad); !errors.Is(err, envelope.ErrSignature) {
		t.Errorf("another signature: %v", err)
	}
	if fresh, err := s.Take(two.Bare()); err != nil || !fresh {
		t.Fatal(fresh, err)
	}
	if fresh, err := s.Take(two); err != nil || !fresh || !strings.Contains(bodies(t, s), "two") {
		t.Errorf("the body that came later: %v, %v, %s", fresh, err, bodies(t, s))
	}
}

// A delta whose line can't be written is not taken: it is when it comes again.
func TestTakeAgain(t *testing.T) {
	log, state := world(t)
	dir := t.TempDir()
	s := newShelf(t, dir, log)
	p := &author{actor: phone, state: state}
	one, two := p.say(t, "one"), p.say(t, "two")
	order := filepath.Join(dir, spaceID.String(), "order")
	failing := func(d *envelope.Delta) {
		t.Helper()
		if err := errors.Join(os.RemoveAll(order), os.Mkdir(order, 0o700)); err != nil {
			t.Fatal(err)
		}
		if fresh, err := s.Take(d); err == nil || fresh {
			t.Errorf("without a line: %v, %v", fresh, err)
		}
		if err := os.Remove(order); err != nil {
			t.Fatal(err)
		}
		if fresh, err := s.Take(d); err != nil || !fresh {
			t.Errorf("again: %v, %v", fresh, err)
		}
	}
	failing(one)
	if _, n := s.At(); n != 1 {
		t.Errorf("%d in the order, want 1", n)
	}
	take(t, s, two.Bare())
	failing(two) // the body that comes later
	if _, n := s.At(); n != 3 {
		t.Errorf("%d in the order, want 3", n)
	}
}

// liar is a place that may show less than it has.
type liar struct {
	*Shelf
	hide func(replica.Placed) bool
	back uint64 // it went back to this cursor
	fail error
}

func (l *liar) Deltas(ctx context.Context, after uint64) ([]replica.Placed, error) {
	if l.fail != nil {
		return nil, l.fail
	}
	if l.back > 0 && after > l.back {
		return nil, replica.ErrAhead
	}
	page, err := l.Shelf.Deltas(ctx, after)
	if l.hide != nil {
		page = slices.DeleteFunc(page, l.hide)
	}
	return page, err
}

func carrier(t *testing.T, s *Shelf, name string, at replica.Remote) *Carrier {
	t.Helper()
	c, err := s.Carry(Carrier{Name: name, At: at, Self: phone.id, Owner: true})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Two places get the same from one device and from others, over a device in
// the middle; blobs, and what was taken away, go along.
func TestCarry(t *testing.T) {
	log, state := world(t)
	mine := newShelf(t, t.TempDir(), log)
	one, other := newShelf(t, t.TempDir(), log), newShelf(t, t.TempDir(), log[:1])
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
	if a.Lacks() != 0 || b.Lacks() != 0 || b.Standing().Log != 2 {
		t.Errorf("%+v", b.Standing())
	}
	for _, s := range []*Shelf{one, other} {
		f, err := os.Create(filepath.Join(t.TempDir(), "blob"))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Download(t.Context(), blob, f, 100); err != nil {
			t.Error(err)
		}
		f.Close()
	}
	if err := errors.Join(mine.Forget(t.Context(), []replica.Ref{{Member: phone.id, Position: gone.Header.Position()}}), mine.DeleteBlob(t.Context(), blob)); err != nil {
		t.Fatal(err)
	}
	a, b = carrier(t, mine, "http://one", one), carrier(t, mine, "http://other", other) // after a restart
	round()
	for _, s := range []*Shelf{one, other} {
		left, err := s.folder.blobs()
		if err != nil || len(left) != 0 || strings.Contains(bodies(t, s), "mine") {
			t.Errorf("%v, %v, %s", left, err, bodies(t, s))
		}
	}
}

// What a place does that it should not is named with the place, and the other
// place does not stop for it.
func TestPlacesThatLie(t *testing.T) {
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
			mine := newShelf(t, t.TempDir(), log)
			bad, good := &liar{Shelf: newShelf(t, t.TempDir(), log)}, newShelf(t, t.TempDir(), log)
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
				t.Errorf("the other place: %v", err)
			}
		})
	}
}

// A delta that this device's disk does not take is no fault of the place's, and
// comes again.
func TestCarryToFailingDisk(t *testing.T) {
	log, state := world(t)
	mine, at := newShelf(t, t.TempDir(), log), newShelf(t, t.TempDir(), log)
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

// An entry that comes between the log and a delta that names it is asked for,
// and held against nobody.
func TestCarryEntryBetween(t *testing.T) {
	log, state := world(t)
	mine, at := newShelf(t, t.TempDir(), log[:1]), newShelf(t, t.TempDir(), log[:1])
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

// between is a place where something happens before deltas are first asked for.
type between struct {
	*Shelf
	do func()
}

func (b *between) Deltas(ctx context.Context, after uint64) ([]replica.Placed, error) {
	if b.do != nil {
		b.do()
		b.do = nil
	}
	return b.Shelf.Deltas(ctx, after)
}

// Where a place has a snapshot that covers what came without its body, that
// stands with it.
func TestCarryFromCompacted(t *testing.T) {
	log, state := world(t)
	mine, at := newShelf(t, t.TempDir(), log), newShelf(t, t.TempDir(), log)
	d := (&author{actor: watch, state: state}).say(t, "one")
	take(t, at, d.Bare())
	cp := &envelope.Checkpoint{Version: envelope.Version, Space: spaceID, Author: watch.id, Head: state.Head(), Epoch: 1, At: 9, Cursor: 1,
		Places: []envelope.Place{{Member: watch.id, Incarnation: 1, Seq: 1, Hash: d.Header.Hash()}}, Manifest: envelope.Hash{1}, Size: 1}
	if err := cp.Sign(envelope.KeySigner(watch.key)); err != nil {
		t.Fatal(err)
	}
	c := carrier(t, mine, "http://one", &snapped{Shelf: at, list: []replica.Listed{{Checkpoint: cp.Bytes()}}})
	for range 2 {
		if err := c.Round(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if st := c.Standing(); st.Failing || len(st.Trouble) != 1 || !strings.Contains(st.Trouble[0], cp.Hash().String()) {
		t.Errorf("%+v", st)
	}
}

type checkpoints interface{ replica.Checkpoints }

// snapped is a place that has checkpoints.
type snapped struct {
	*Shelf
	checkpoints
	list []replica.Listed
}

func (s *snapped) Checkpoints(context.Context) ([]replica.Listed, error) { return s.list, nil }

// What came after its author's removal, which the shelf had taken before it
// knew, is named, and holds nothing up that comes after it.
func TestCarryPastRemoved(t *testing.T) {
	log, state := world(t)
	mine := newShelf(t, t.TempDir(), log)
	p, w := &author{actor: phone, state: state}, &author{actor: watch, state: state}
	first := w.say(t, "in time")
	take(t, mine, first, w.say(t, "late"), w.say(t, "later"), p.say(t, "mine"))
	removed := &envelope.Entry{Version: envelope.Version, Action: envelope.Remove, Space: spaceID, N: 3, Prev: state.Head(), At: 1_790_000_000,
		Epoch: 2, Removed: &watch.id, Last: []envelope.Position{first.Header.Position()},
		Wraps: []envelope.Wrap{{Keys: []byte("keys")}, {To: phone.id, Keys: []byte("keys")}}}
	if err := removed.Sign(envelope.KeySigner(root.key)); err != nil {
		t.Fatal(err)
	}
	at := newShelf(t, t.TempDir(), append(log, removed))
	c := carrier(t, mine, "http://one", at)
	for range 2 {
		if err := c.Round(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if got := bodies(t, at); strings.Contains(got, "late") || !strings.Contains(got, "in time") || !strings.Contains(got, "mine") {
		t.Error(got)
	}
	if st := c.Standing(); c.Lacks() != 0 || st.Failing || len(st.Trouble) != 1 || !strings.Contains(st.Trouble[0], "too late") {
		t.Errorf("%d, %q", c.Lacks(), st.Trouble)
	}
}

// Two lives of one device said different things at two places: whichever comes
// second is named, with both heads.
func TestForkBetweenPlaces(t *testing.T) {
	log, state := world(t)
	mine, one, other := newShelf(t, t.TempDir(), log), newShelf(t, t.TempDir(), log), newShelf(t, t.TempDir(), log)
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

// A folder in which a member's chain is another one than here is named, with
// space, author and place, and nothing of that chain is taken.
func TestForkInAFolder(t *testing.T) {
	log, state := world(t)
	mine, other := newShelf(t, t.TempDir(), log), newShelf(t, t.TempDir(), log)
	this, that := &author{actor: watch, state: state}, &author{actor: watch, state: state}
	take(t, mine, this.say(t, "this"), this.say(t, "so"))
	take(t, other, that.say(t, "that"), that.say(t, "otherwise"), that.say(t, "and more"))
	f := OpenFolder(t.TempDir(), spaceID)
	if _, err := other.Meet(t.Context(), f, watch.id, nil); err != nil {
		t.Fatal(err)
	}
	m, err := mine.Meet(t.Context(), f, phone.id, nil)
	if err != nil || m.Took != 0 || len(m.Trouble) != 1 || !strings.Contains(m.Trouble[0], spaceID.String()) ||
		!strings.Contains(m.Trouble[0], "fork of member "+watch.id.String()+" at 2") {
		t.Errorf("%+v, %v", m, err)
	}
	if got := bodies(t, mine); strings.Contains(got, "more") {
		t.Error(got)
	}
}

// Several devices meet in one folder at a time, in which there lies what does
// not belong there; and they end alike.
func TestMeet(t *testing.T) {
	log, state := world(t)
	dir := t.TempDir()
	authors := []*author{{actor: phone, state: state}, {actor: watch, state: state}}
	shelves := []*Shelf{newShelf(t, t.TempDir(), log), newShelf(t, t.TempDir(), log[:1])}
	f := OpenFolder(dir, spaceID)
	for i, s := range shelves {
		if i == 1 {
			if err := s.TakeEntry(log[1]); err != nil {
				t.Fatal(err)
			}
		}
		for n := range 20 {
			take(t, s, authors[i].say(t, fmt.Sprintf("%d of %d", n, i)))
		}
	}
	blob, err := shelves[0].Upload(t.Context(), bytes.NewReader([]byte("a photo, sealed")))
	if err != nil {
		t.Fatal(err)
	}
	wanted := map[envelope.Hash]int64{blob: 15}
	chainDir := filepath.Join(f.dir, "deltas", chain{phone.id, 1}.String())
	for name, text := range map[string]string{
		filepath.Join(chainDir, "000000000001 (conflicted copy).delta"): "nonsense",
		filepath.Join(chainDir, ".000000000002.delta.tmp1"):             "half",
		filepath.Join(f.dir, "deltas", "README"):                        "hello",
		filepath.Join(f.dir, "log", "00000001-zz.entry"):                "nonsense",
	} {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var wait sync.WaitGroup
	for range 3 {
		for i, s := range shelves {
			wait.Go(func() {
				if _, err := s.Meet(t.Context(), f, authors[i].id, wanted); err != nil {
					t.Error(err)
				}
			})
		}
	}
	wait.Wait()
	for i, s := range shelves {
		if _, err := s.Meet(t.Context(), f, authors[i].id, wanted); err != nil {
			t.Fatal(err)
		}
	}
	if x, y := bodies(t, shelves[0]), bodies(t, shelves[1]); x != y || strings.Count(x, " of ") != 40 {
		t.Errorf("%s\n%s", x, y)
	}
	if have, err := shelves[1].folder.blobs(); err != nil || len(have) != 1 {
		t.Errorf("%v, %v", have, err)
	}
}

// A folder is held to the same as a relay: what was changed there is named,
// the rest is taken, links and pipes are not followed, and blobs are what their
// names say and no larger than was said of them.
func TestFolderThatLies(t *testing.T) {
	log, state := world(t)
	p, w := &author{actor: phone, state: state}, &author{actor: watch, state: state}
	from := newShelf(t, t.TempDir(), log)
	take(t, from, p.say(t, "one"), p.say(t, "two"), w.say(t, "three"))
	big, err := from.Upload(t.Context(), bytes.NewReader(make([]byte, 100)))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	f := OpenFolder(dir, spaceID)
	if _, err := from.Meet(t.Context(), f, phone.id, nil); err != nil {
		t.Fatal(err)
	}
	second := f.deltaPath(chain{phone.id, 1}, 2)
	b, err := os.ReadFile(second)
	if err != nil {
		t.Fatal(err)
	}
	b[len(b)-1] ^= 1
	if err := os.WriteFile(second, b, 0o600); err != nil {
		t.Fatal(err)
	}
	stray := f.deltaPath(chain{theirs.id, 1}, 1)
	if err := errors.Join(os.MkdirAll(filepath.Dir(stray), 0o700), os.Symlink("/dev/zero", stray)); err != nil {
		t.Fatal(err)
	}
	to := newShelf(t, t.TempDir(), log)
	m, err := to.Meet(t.Context(), f, watch.id, map[envelope.Hash]int64{big: 99})
	if err != nil || m.Took != 2 || len(m.Trouble) != 3 {
		t.Fatalf("%+v, %v", m, err)
	}
	if got := bodies(t, to); strings.Contains(got, "two") || !strings.Contains(got, "three") {
		t.Error(got)
	}
	forked := &envelope.Entry{Version: envelope.Version, Action: envelope.Add, Space: spaceID, N: 2, Prev: log[1].Prev, Author: phone.id, At: 9, Epoch: 1,
		Member: theirs.member(), Wraps: []envelope.Wrap{{To: theirs.id, Keys: []byte("keys")}}}
	if err := errors.Join(forked.Sign(envelope.KeySigner(phone.key)), f.putEntry(forked)); err != nil {
		t.Fatal(err)
	}
	var fork *envelope.ForkError
	if _, err := to.Meet(t.Context(), f, watch.id, nil); !errors.As(err, &fork) {
		t.Errorf("a forked log: %v", err)
	}
}
