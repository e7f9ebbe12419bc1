package match

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/crypto/intersect"
	"github.com/locket-dev/locket/crypto/keyring"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/node/share"
)

// home is a home with interests, and a clock of its own.
type home struct {
	*Matcher
	t   *testing.T
	key string
	at  time.Time
}

func newHome(t *testing.T, interests ...string) *home {
	t.Helper()
	h := &home{t: t, at: time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)}
	h.Matcher = &Matcher{Dir: filepath.Join(t.TempDir(), "reader"), Now: func() time.Time { return h.at }}
	var err error
	if h.key, _, err = (&share.Reader{Dir: h.Dir}).Key(); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Choose(t.Context(), interests, nil); err != nil {
		t.Fatal(err)
	}
	return h
}

func (h *home) ask(name string, other *home) string {
	h.t.Helper()
	_, text, err := h.Ask(h.t.Context(), name, other.key)
	if err != nil {
		h.t.Fatal(err)
	}
	return text
}

func (h *home) take(text, name string) (serve.Comparison, string) {
	h.t.Helper()
	c, reply, err := h.Open(h.t.Context(), text, name)
	if err != nil {
		h.t.Fatal(err)
	}
	return c, reply
}

func (h *home) which(name string) (serve.Comparison, string) {
	h.t.Helper()
	c, text, err := h.TellCommon(h.t.Context(), name)
	if err != nil {
		h.t.Fatal(err)
	}
	return c, text
}

func (h *home) wantErr(want error, text string) {
	h.t.Helper()
	if _, reply, err := h.Open(h.t.Context(), text, "X"); !errors.Is(err, want) || reply != "" {
		h.t.Fatalf("opened with %v and %d bytes of reply, want %v", err, len(reply), want)
	}
}

// state changes what a home keeps, as a lying program could.
func (h *home) state(f func(*keyring.Device, *state) error) {
	h.t.Helper()
	if err := h.in(h.t.Context(), func(d *keyring.Device, s *state) (bool, error) { return true, f(d, s) }); err != nil {
		h.t.Fatal(err)
	}
}

func TestTwoHomesCompare(t *testing.T) {
	a := newHome(t, "Bee keeping", "围棋", "Ｊａｚｚ", "old maps")
	b := newHome(t, "jazz", "bee  KEEPING", "soup")
	asked := a.ask("Ben", b)
	if look, err := b.Look(t.Context(), asked); err != nil || look == nil || look.Ours != 3 || look.Words == "" {
		t.Fatalf("look: %+v, %v", look, err)
	}
	if _, _, err := b.Open(t.Context(), asked, ""); !errors.Is(err, ErrName) {
		t.Fatalf("without a name: %v, want ErrName", err)
	}
	c, answer := b.take(asked, "Ann")
	if c.Count != nil {
		t.Fatal("who answers can't know the count yet")
	}
	if _, _, err := b.TellCommon(t.Context(), "Ann"); !errors.Is(err, memory.ErrInvalid) {
		t.Fatalf("which before the count: %v", err)
	}
	c, count := a.take(answer, "")
	if c.Count == nil || *c.Count != 2 {
		t.Fatalf("Ann counts %v, want 2", c.Count)
	}
	if c, reply := b.take(count, ""); c.Count == nil || *c.Count != 2 || reply != "" {
		t.Fatalf("Ben counts %v, and replies %d bytes; want 2 and none", c.Count, len(reply))
	}
	// A change made now does not affect this comparison.
	if _, err := b.Choose(t.Context(), []string{"old maps"}, []string{"Soup"}); err != nil {
		t.Fatal(err)
	}
	_, which := a.which("Ben")
	if c, _ := b.take(which, ""); !c.Told || c.Both != nil || c.Ended != "" {
		t.Fatalf("Ben sees %+v before he has said which himself", c)
	}
	c, back := b.which("Ann")
	if want := []string{"jazz", "bee  KEEPING"}; len(c.Both) != 2 || !slices.Contains(c.Both, "jazz") || !slices.Contains(c.Both, "bee KEEPING") {
		t.Fatalf("Ben sees %q, want %q", c.Both, want)
	}
	if c, _ = a.take(back, ""); !slices.Equal(c.Both, []string{"Bee keeping", "Ｊａｚｚ"}) {
		t.Fatalf("Ann sees %q", c.Both)
	}
	// The message can be requested again; the secrets are gone.
	if _, text, err := b.RepeatMessage(t.Context(), "Ann"); err != nil || text != back {
		t.Fatalf("again: %v", err)
	}
	a.state(func(_ *keyring.Device, s *state) error {
		if r := s.Runs[0]; r.Side != nil || r.Mine != nil || r.Theirs != nil || r.Which != nil {
			t.Error("secrets of a comparison that has ended are kept")
		}
		return nil
	})
	// What is kept on disk is sealed.
	b.state(func(*keyring.Device, *state) error { return nil })
	raw, err := os.ReadFile(filepath.Join(b.Dir, folder, fileName))
	if err != nil || strings.Contains(string(raw), "jazz") {
		t.Fatalf("the file tells interests, or %v", err)
	}
}

// A peer who changes the set or the key after offering them is detected and named.
func TestThreatInterestsChangedAfter(t *testing.T) {
	other := func(elements ...string) (*intersect.Side, *intersect.Offer) {
		s, err := intersect.New(elements)
		if err != nil {
			t.Fatal(err)
		}
		o, err := s.Offer()
		if err != nil {
			t.Fatal(err)
		}
		return s, &o
	}
	for name, lie := range map[string]func(a, b *home) string{
		"another offer in a second answer": func(a, b *home) string {
			asked := a.ask("Ben", b)
			_, answer := b.take(asked, "Ann")
			a.take(answer, "")
			b.state(func(_ *keyring.Device, s *state) error { s.Runs, s.Begun = nil, nil; return nil })
			_, answer = b.take(asked, "Ann")
			return answer
		},
		"a count above all that was offered": func(a, b *home) string {
			_, answer := b.take(a.ask("Ben", b), "Ann")
			b.state(func(d *keyring.Device, s *state) error {
				r := s.Runs[0]
				zeros := make([][]byte, intersect.MaxSet)
				for i := range zeros {
					zeros[i] = make([]byte, intersect.CipherSize) // the identity twice, which opens to zero
				}
				err := r.send(d, message{Kind: answers, Offer: r.Mine, Count: zeros}, b.at)
				answer = r.Sent[answers]
				return err
			})
			return answer
		},
		"another key for which": func(a, b *home) string {
			_, answer := b.take(a.ask("Ben", b), "Ann")
			_, count := a.take(answer, "")
			b.take(count, "")
			b.state(func(_ *keyring.Device, s *state) error {
				liar, _ := other("bees", "chess")
				s.Runs[0].Side.Key = liar.Key
				return nil
			})
			_, which := b.which("Ann")
			return which
		},
		"another set for the count": func(a, b *home) string {
			b.take(a.ask("Ben", b), "Ann")
			b.state(func(d *keyring.Device, s *state) error {
				r := s.Runs[0]
				liar, _ := other("bees", "chess")
				list, err := liar.CountFor(r.Theirs)
				if err != nil {
					return err
				}
				return r.send(d, message{Kind: answers, Offer: r.Mine, Count: list}, b.at)
			})
			_, answer, err := b.RepeatMessage(t.Context(), "Ann")
			if err != nil {
				t.Fatal(err)
			}
			c, count := a.take(answer, "")
			if *c.Count != 2 {
				t.Fatalf("the liar's count is %d", *c.Count)
			}
			b.take(count, "")
			_, which := b.which("Ann")
			return which
		},
		"another offer than was counted": func(a, b *home) string {
			_, answer := b.take(a.ask("Ben", b), "Ann")
			a.take(answer, "")
			var text string
			b.state(func(d *keyring.Device, s *state) error {
				r := s.Runs[0]
				r.Bodies[1] = hash([]byte("another"))
				ev, err := r.Side.CommonFor(r.Theirs)
				if err == nil {
					err = r.send(d, message{Kind: tellsWhich, Which: &ev}, b.at)
				}
				text = r.Sent[tellsWhich]
				return err
			})
			return text
		},
	} {
		t.Run(name, func(t *testing.T) {
			a, b := newHome(t, "bees", "chess", "soup"), newHome(t, "bees", "tea")
			text := lie(a, b)
			a.wantErr(ErrLied, text)
			list, err := a.List(t.Context())
			if err != nil || len(list) != 1 || list[0].Ended == "" || list[0].Both != nil {
				t.Fatalf("it is kept as %+v, %v", list, err)
			}
			a.wantErr(ErrEnded, a.reEnded(b))
		})
	}
}

// reEnded has b send a message that would be the next one.
func (h *home) reEnded(b *home) (text string) {
	b.state(func(d *keyring.Device, s *state) error {
		r := s.Runs[0]
		var id [16]byte
		h.state(func(_ *keyring.Device, mine *state) error { id = mine.Runs[0].ID; return nil })
		m := message{Version: 1, ID: id, Kind: counts, To: r.Peer.Key, At: b.at.Unix(), On: make([]byte, 32), Count: [][]byte{{1}}}
		var err error
		text, _, err = sealed(d, &m, &r.Peer)
		return err
	})
	return text
}

func TestRepeatedMessages(t *testing.T) {
	a, b, c := newHome(t, "bees"), newHome(t, "bees"), newHome(t, "bees")
	asked := a.ask("Ben", b)
	_, answer := b.take(asked, "Ann")
	if _, same := b.take(asked, "Ann"); same != answer {
		t.Error("the same question got another answer")
	}
	_, count := a.take(answer, "")
	if _, same := a.take(answer, ""); same != count {
		t.Error("the same answer got another count")
	}
	b.take(count, "")
	if got, reply := b.take(count, ""); *got.Count != 1 || reply != "" {
		t.Errorf("the same count again: %+v and %d bytes", got, len(reply))
	}
	c.wantErr(ErrMessage, asked)                // for another key
	a.wantErr(ErrMessage, asked)                // one's own
	b.wantErr(ErrMessage, asked[:len(asked)/2]) // cut short
	b.wantErr(ErrMessage, "locket-match-1.")
	b.wantErr(ErrMessage, strings.Repeat("x", 1<<20))
	a.wantErr(ErrMessage, a.ask("Cem", c))
	for _, i := range []int{len(prefix), len(asked) / 3, len(asked) - 2} {
		changed := []byte(asked)
		changed[i] ^= 1
		b.wantErr(ErrMessage, string(changed))
	}
	// A stranger who got hold of the id can't send messages in the comparison.
	var stolen string
	c.state(func(d *keyring.Device, s *state) error {
		var r run
		a.state(func(_ *keyring.Device, mine *state) error { r = *mine.Runs[0]; return nil })
		peer := r.Peer
		peer.Key = nil
		a.state(func(own *keyring.Device, _ *state) error {
			m := message{Version: 1, ID: r.ID, Kind: counts, To: own.Key(), At: c.at.Unix(), On: r.on(counts), Count: [][]byte{{1}}}
			peer.Recipient = own.Recipient().String()
			var err error
			stolen, _, err = sealed(d, &m, &peer)
			return err
		})
		return nil
	})
	a.wantErr(memory.ErrNotFound, stolen)
}

// A count that was lost on the way holds nobody up, also if the list of matches is sent
// after it.
func TestLostCount(t *testing.T) {
	a, b := newHome(t, "bees", "tea"), newHome(t, "bees")
	asked := a.ask("Ben", b)
	_, answer := b.take(asked, "Ann")
	_, count := a.take(answer, "")
	_, which := a.which("Ben")
	b.wantErr(ErrMessage, which)
	if _, same := a.take(answer, ""); same != count {
		t.Error("the same answer got another count")
	}
	_, both, err := a.RepeatMessage(t.Context(), "Ben")
	if err != nil || both != count+"\n"+which {
		t.Fatalf("the repeated message is not the count and the interests: %v", err)
	}
	b.wantErr(ErrMessage, both+"\n"+asked)
	b.wantErr(ErrMessage, asked+"\n"+count) // a message that needs a yes comes alone
	if look, err := b.Look(t.Context(), both); look != nil || err != nil {
		t.Errorf("look: %+v, %v", look, err)
	}
	if c, _ := b.take(both, ""); c.Count == nil || !c.Told {
		t.Fatalf("Ben sees %+v", c)
	}
	_, back := b.which("Ann")
	if c, _ := a.take(back, ""); !slices.Equal(c.Both, []string{"bees"}) {
		t.Errorf("Ann sees %q", c.Both)
	}
	// Ben has sent his list, so he has the count.
	if _, text, err := a.RepeatMessage(t.Context(), "Ben"); err != nil || text != which {
		t.Errorf("again, once Ben has told: %v", err)
	}
}

func TestMutualQuestions(t *testing.T) {
	a, b := newHome(t, "bees", "tea"), newHome(t, "bees")
	fromA, fromB := a.ask("Ben", b), b.ask("Ann", a)
	da, err := a.device()
	if err != nil {
		t.Fatal(err)
	}
	db, err := b.device()
	if err != nil {
		t.Fatal(err)
	}
	if string(da.Key()) > string(db.Key()) { // the lower key asked
		a, b, fromA, fromB = b, a, fromB, fromA
	}
	a.wantErr(memory.ErrInvalid, fromB)
	_, answer := b.take(fromA, "")
	c, count := a.take(answer, "")
	if *c.Count != 1 {
		t.Errorf("count is %d", *c.Count)
	}
	b.take(count, "")
	if list, err := b.List(t.Context()); err != nil || len(list) != 1 || *list[0].Count != 1 {
		t.Errorf("%+v, %v", list, err)
	}
}

func TestInvalidInterests(t *testing.T) {
	h := newHome(t)
	for _, bad := range []string{"", " \n", "\u200b\u202e", strings.Repeat("x", 1<<20), strings.Repeat("茶", 70), "a\x00b", "a\xffb"} {
		if _, err := h.Choose(t.Context(), []string{bad}, nil); !errors.Is(err, memory.ErrInvalid) {
			t.Errorf("%.20q: %v, want ErrInvalid", bad, err)
		}
	}
	if _, _, err := h.Ask(t.Context(), "Ben", newHome(t).key); !errors.Is(err, memory.ErrInvalid) || !strings.Contains(err.Error(), "interests") {
		t.Errorf("none chosen: %v", err)
	}
	var many []string
	for i := range intersect.MaxSet + 1 {
		many = append(many, fmt.Sprint("thing ", i))
	}
	if _, err := h.Choose(t.Context(), many, nil); !errors.Is(err, memory.ErrInvalid) {
		t.Errorf("33: %v, want ErrInvalid", err)
	}
	if _, err := h.Choose(t.Context(), []string{"Tea"}, []string{"coffee"}); !errors.Is(err, memory.ErrNotFound) {
		t.Errorf("removed what is none: %v", err)
	}
	if list, err := h.Choose(t.Context(), []string{"Tea", "tea", "ＴＥＡ"}, nil); err != nil || len(list) != 1 {
		t.Errorf("%q, %v: want one", list, err)
	}
	if _, _, err := h.Ask(t.Context(), "me", h.key); !errors.Is(err, memory.ErrInvalid) {
		t.Errorf("oneself: %v", err)
	}
	if _, _, err := h.Ask(t.Context(), "X", "nonsense"); !errors.Is(err, memory.ErrInvalid) {
		t.Errorf("no key: %v", err)
	}
}
