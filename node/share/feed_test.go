package share_test

import (
	"errors"
	"io"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/locket-dev/locket/crypto/keyring"
	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/share"
	"github.com/locket-dev/locket/sync/delta"
	"github.com/locket-dev/locket/sync/envelope"
	"github.com/locket-dev/locket/sync/journal"
	"github.com/locket-dev/locket/sync/membership"
	"github.com/locket-dev/locket/sync/remote"
	"github.com/locket-dev/locket/sync/remote/upstream"
	"github.com/locket-dev/locket/sync/replica"
)

// worker is a worker that was admitted to a feed.
type worker struct {
	t       *testing.T
	device  *keyring.Device
	request string
	space   memory.SpaceID
	member  memory.MemberID
	epochs  seal.Epochs
	store   *store.Store
	replica *replica.Replica
	clock   memory.Ticker
}

func newWorker(t *testing.T) *worker {
	t.Helper()
	d, err := keyring.ReaderKey(filepath.Join(t.TempDir(), "key"))
	if err != nil {
		t.Fatal(err)
	}
	w := &worker{t: t, device: d, epochs: seal.Epochs{}, store: openStore(t)}
	m := membership.MemberOf(d, envelope.Extractor)
	if w.request, err = envelope.SignRequest(envelope.Request{Key: m.Key, Recipient: m.Recipient}, d.Sign); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *worker) Sign(domain string, msg []byte) ([]byte, error) { return w.device.Sign(domain, msg) }
func (w *worker) Epoch(n uint32) (*seal.Key, bool)               { k, ok := w.epochs[n]; return k, ok }
func (w *worker) Wrap(uint32, *seal.Recipient) ([]byte, error)   { return nil, errors.New("no owner") }
func (w *worker) Take(sealed []byte) error {
	got, err := w.device.OpenEpochs(w.space, sealed)
	for n, k := range got {
		w.epochs[n] = k
	}
	return err
}

func (w *worker) join(l share.Link) {
	w.t.Helper()
	at, err := remote.New(l.Relay, remote.Option{})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(at.Close)
	w.space, w.member = l.Space, envelope.MemberOf(membership.MemberOf(w.device, envelope.Extractor).Key, l.Space)
	there := at.Space(w.space, w.member, w.device.SignRequest)
	entries, err := there.Log(w.t.Context(), 0)
	if err != nil || entries[0].Hash() != l.Genesis {
		w.t.Fatal(err)
	}
	w.replica, err = replica.New(replica.Config{Space: w.space, Member: w.member, Genesis: entries[0].Bytes(), Remote: upstream.New(there, ""), Keys: w,
		Journal: &journal.Journal{Space: w.space, Member: w.member, Store: w.store}, Temp: w.t.TempDir()})
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *worker) sync() {
	w.t.Helper()
	if err := w.replica.Sync(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
}

func (w *worker) sees() []string {
	w.t.Helper()
	var ms []memory.Memory
	err := w.store.View(w.t.Context(), func(tx *store.Tx) error {
		for m, err := range tx.Memories(store.Filter{States: []memory.State{memory.Active}}) {
			if err != nil {
				return err
			}
			ms = append(ms, *m)
		}
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return texts(ms)
}

func (w *worker) say(id memory.ID, rank memory.Rank, act memory.Act, c *memory.Candidate) {
	w.t.Helper()
	err := w.store.Update(w.t.Context(), func(tx *store.Tx) error {
		dot, err := tx.NextDot(w.member)
		if err != nil {
			return err
		}
		_, err = tx.Assert(memory.Assertion{Dot: dot, Clock: w.clock.Tick(), Rank: rank, Space: w.space, Memory: id, Act: act, Candidate: c})
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

func TestFeed(t *testing.T) {
	service := serveRelay(t)
	w, main, hired := newWearer(t, service), newInbox(t), newWorker(t)
	w.Sharing = w.with(func(c *share.Config) { c.Inbox = main })

	likes := remembered("Klara likes plums", nil)
	main.tell(likes)
	main.tell(remembered("Klara went to the doctor", func(m *memory.Memory) { m.Sensitivity = memory.Private }))
	main.tell(remembered("Klara met Ben", func(m *memory.Memory) { m.Type = memory.Episodic }))
	free, near := main.record("of a walk", day), main.record("of a password", day.Add(time.Hour))
	main.change(func(tx *store.Tx) error {
		return tx.PutUtterance(&memory.Utterance{ID: memory.ID{200}, Space: home, Event: memory.EventID{Device: "pin", Boot: 1, Seq: 1},
			At: near.TrueTo.Add(9 * time.Second), Text: "It is [password]", Redacted: 1})
	})

	rec, err := w.CreateFeed(t.Context(), share.FeedSpec{Name: "studio", Key: hired.request, Audio: true,
		Criteria: share.Criteria{Types: []memory.Type{memory.Semantic}, Most: memory.Personal},
		Grant:    delta.Grant{Types: []memory.Type{memory.Semantic}, Transcribe: true}})
	if err != nil {
		t.Fatal(err)
	}
	hired.join(rec.Link())
	hired.sync()
	if got, want := hired.sees(), []string{"Klara likes plums", "Recording of a walk"}; !slices.Equal(got, want) {
		t.Fatalf("the worker gets %q, want %q", got, want)
	}
	for m, want := range map[*memory.Memory]string{&free: "sound of of a walk", &near: ""} {
		name, err := memory.ParseID(m.Fields.Resource.Blob)
		if err != nil {
			t.Fatal(err)
		}
		err = hired.replica.FetchBlob(t.Context(), name)
		if want == "" {
			if !errors.Is(err, memory.ErrNotFound) {
				t.Errorf("the sound of a secret: %v", err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		err = hired.store.View(t.Context(), func(tx *store.Tx) error {
			r, err := tx.OpenBlob(name)
			if err != nil {
				return err
			}
			defer r.Close()
			b, err := io.ReadAll(r)
			if string(b) != want {
				t.Errorf("sound %q", b)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}

	// What follows the rules reaches the wearer, with the lowest rank; the rest does not.
	good := memory.ID{100}
	c := memory.Candidate{Type: memory.Semantic, Sensitivity: memory.Personal, Text: "Klara walks in the park", Owner: memory.Owner{User: "wearer"}, Confidence: 0.6, Evidence: free.Evidence}
	hired.say(good, memory.RankCloud, memory.ActPropose, &c)
	c2 := c
	c2.Text, c2.Evidence = "Klara is a spy", []memory.Evidence{{Event: memory.EventID{Device: "nobody", Boot: 1, Seq: 7}, At: day}}
	hired.say(memory.ID{101}, memory.RankCloud, memory.ActPropose, &c2)
	c3 := c
	c3.Text = "Klara is the queen"
	hired.say(memory.ID{102}, memory.RankPerson, memory.ActPropose, &c3)
	hired.say(likes.ID, memory.RankPerson, memory.ActErase, nil)
	hired.sync()
	if n, err := w.MaintainFeeds(t.Context()); err != nil || n != (share.FeedsMaintained{Feeds: 1, Taken: 1}) {
		t.Errorf("maintain: %+v, %v", n, err)
	}
	err = main.store.View(t.Context(), func(tx *store.Tx) error {
		m, err := tx.Memory(good)
		if err != nil {
			return err
		}
		if m.Rank != memory.RankCloud || m.Space != home || m.Text != c.Text {
			t.Errorf("came as %+v", m)
		}
		for _, id := range []memory.ID{{101}, {102}} {
			if _, err := tx.Memory(id); !errors.Is(err, memory.ErrNotFound) {
				t.Errorf("%s came, too: %v", id, err)
			}
		}
		if m, err := tx.Memory(likes.ID); err != nil || m.State != memory.Active {
			t.Errorf("a worker erased: %v", err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if n, err := w.MaintainFeeds(t.Context()); err != nil || n.Taken != 0 {
		t.Errorf("once more: %+v, %v", n, err)
	}

	// If a secret is found later, the recording is taken back.
	main.change(func(tx *store.Tx) error {
		return tx.PutUtterance(&memory.Utterance{ID: memory.ID{201}, Space: home, Event: memory.EventID{Device: "pin", Boot: 1, Seq: 2}, At: day, Text: "[pin]", Redacted: 1})
	})
	if _, err := w.MaintainFeeds(t.Context()); err != nil {
		t.Fatal(err)
	}
	hired.sync()
	if got := hired.sees(); slices.Contains(got, "Recording of a walk") {
		t.Errorf("after the secret was found: %q", got)
	}

	main.tell(remembered("Klara bought a boat", nil))
	if _, err := w.RevokeFeed(t.Context(), rec.Space); err != nil {
		t.Fatal(err)
	}
	if err := hired.replica.Sync(t.Context()); !errors.Is(err, replica.ErrRemoved) {
		t.Errorf("after revocation: %v", err)
	}
	if got := hired.sees(); slices.Contains(got, "Klara bought a boat") {
		t.Errorf("after revocation: %q", got)
	}
	if n, err := w.MaintainFeeds(t.Context()); err != nil || n.Feeds != 0 {
		t.Errorf("maintain what was revoked: %+v, %v", n, err)
	}
}

func TestBadFeeds(t *testing.T) {
	w := newWearer(t, serveRelay(t))
	w.Sharing = w.with(func(c *share.Config) { c.Inbox = newInbox(t) })
	hired := newWorker(t)
	for name, f := range map[string]share.FeedSpec{
		"the vault":     {Key: hired.request, Criteria: share.Criteria{Types: []memory.Type{memory.Vault}}},
		"vault allowed": {Key: hired.request, Grant: delta.Grant{Types: []memory.Type{memory.Vault}}},
		"no key":        {Key: "locket-member-1.AAAA"},
	} {
		if _, err := w.CreateFeed(t.Context(), f); !errors.Is(err, memory.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A line that the wearer has forgotten is removed from the feed, and from the worker.
func TestFeedDropsForgottenLines(t *testing.T) {
	service := serveRelay(t)
	w, main, hired := newWearer(t, service), newInbox(t), newWorker(t)
	w.Sharing = w.with(func(c *share.Config) { c.Inbox = main })
	line := memory.Utterance{ID: memory.ID{210}, Space: home, Event: memory.EventID{Device: "pin", Boot: 1, Seq: 9}, At: day, Speaker: "Klara", Text: "I like plums best."}
	main.change(func(tx *store.Tx) error { return tx.PutUtterance(&line) })
	likes := remembered("Klara likes plums", func(m *memory.Memory) {
		m.Evidence = []memory.Evidence{{Event: line.Event, Utterance: line.ID, Speaker: "Klara", At: day, Excerpt: line.Text, End: len(line.Text)}}
	})
	main.tell(likes)
	rec, err := w.CreateFeed(t.Context(), share.FeedSpec{Name: "studio", Key: hired.request,
		Criteria: share.Criteria{Types: []memory.Type{memory.Semantic}, Most: memory.Personal},
		Grant:    delta.Grant{Types: []memory.Type{memory.Semantic}}})
	if err != nil {
		t.Fatal(err)
	}
	hired.join(rec.Link())
	hired.sync()
	has := func() bool {
		t.Helper()
		found := false
		err := hired.store.View(t.Context(), func(tx *store.Tx) error {
			_, err := tx.Utterance(line.ID)
			if errors.Is(err, memory.ErrNotFound) {
				return nil
			}
			found = err == nil
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	if !has() {
		t.Fatal("the line that a fed memory quotes did not come")
	}
	main.change(func(tx *store.Tx) error {
		return tx.Erase(store.Targets{Memories: []memory.ID{likes.ID}, Utterances: []memory.ID{line.ID}})
	})
	if _, err := w.MaintainFeeds(t.Context()); err != nil {
		t.Fatal(err)
	}
	hired.sync()
	if has() {
		t.Error("the line was forgotten, and the worker still has it")
	}
}

// What has expired is removed from the feed, and from the worker, before retention has run.
func TestFeedDropsExpiredMemories(t *testing.T) {
	service := serveRelay(t)
	w, main, hired := newWearer(t, service), newInbox(t), newWorker(t)
	w.Sharing = w.with(func(c *share.Config) { c.Inbox = main })
	main.tell(remembered("Klara likes plums", nil))
	main.tell(remembered("Klara lends Ben a ladder", func(m *memory.Memory) { m.Expires = day.Add(time.Hour) }))
	rec, err := w.CreateFeed(t.Context(), share.FeedSpec{Name: "studio", Key: hired.request,
		Criteria: share.Criteria{Types: []memory.Type{memory.Semantic}, Most: memory.Personal},
		Grant:    delta.Grant{Types: []memory.Type{memory.Semantic}}})
	if err != nil {
		t.Fatal(err)
	}
	hired.join(rec.Link())
	hired.sync()
	if got, want := hired.sees(), []string{"Klara lends Ben a ladder", "Klara likes plums"}; !slices.Equal(got, want) {
		t.Fatalf("the worker gets %q, want %q", got, want)
	}
	w.now = day.Add(2 * time.Hour)
	if _, err := w.MaintainFeeds(t.Context()); err != nil {
		t.Fatal(err)
	}
	hired.sync()
	if got, want := hired.sees(), []string{"Klara likes plums"}; !slices.Equal(got, want) {
		t.Errorf("the worker keeps %q, want %q", got, want)
	}
}
