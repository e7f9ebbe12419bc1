package extract

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/engine"
	"github.com/locket-dev/locket/memory/recall"
	"github.com/locket-dev/locket/memory/reconcile"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/wasm/abi"
)

// script is a plugin whose answers a test provides.
type script struct {
	id     string
	first  bool
	kinds  string
	answer func(*abi.Event) (abi.Output, error)
	saw    []abi.Event
}

func (p *script) ID() string             { return p.id }
func (p *script) Version() string        { return "1.0.0" }
func (p *script) RunsFirst() bool        { return p.first }
func (p *script) Wants(kind string) bool { return strings.Contains(p.kinds, kind) }
func (p *script) Extract(_ context.Context, ev *abi.Event) (abi.Output, error) {
	p.saw = append(p.saw, *ev)
	return p.answer(ev)
}

type testKeys struct{ vault *seal.Identity }

func (k testKeys) SealToVault(secret []byte) ([]byte, error) {
	return seal.SealTo(k.vault.Recipient(), secret)
}

func (k testKeys) MemoryID(ev memory.EventID, plugin, fingerprint string) memory.ID {
	return memory.DeriveID([]byte("test"), ev, plugin, fingerprint)
}

type memSegments map[string][]byte

func (s memSegments) Put(_ context.Context, name string, b []byte) error {
	s[name] = bytes.Clone(b)
	return nil
}

func (s memSegments) Get(_ context.Context, name string) ([]byte, error) {
	if b, ok := s[name]; ok {
		return b, nil
	}
	return nil, memory.ErrNotFound
}

func (s memSegments) List(context.Context) (names []string, err error) {
	for n := range s {
		names = append(names, n)
	}
	return names, nil
}

func (s memSegments) Delete(_ context.Context, name string) error { delete(s, name); return nil }

// bench is an extractor over a real store and index.
type bench struct {
	dir   string
	t     *testing.T
	x     *Extractor
	w     *engine.Writer
	store *store.Store
	log   *bytes.Buffer
	free  uint64
	seq   uint64
	at    time.Time
}

func newBench(t *testing.T, plugins ...Plugin) *bench {
	t.Helper()
	b := &bench{t: t, dir: t.TempDir(), log: new(bytes.Buffer), free: 1 << 40, at: time.Date(2026, 9, 14, 8, 0, 0, 0, time.UTC)}
	var err error
	b.store, err = store.Open(store.Options{Dir: b.dir, Key: seal.NewKey(), Derive: reconcile.Derive, Diff: reconcile.Diff, Reserve: 1 << 20,
		Free: func(string) (uint64, error) { return b.free, nil }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.store.Close() })
	ix, err := recall.Open(t.Context(), memSegments{}, recall.Options{})
	if err != nil {
		t.Fatal(err)
	}
	e := engine.New(engine.Config{Space: memory.SpaceID{1}, Member: memory.MemberID{1}, Store: b.store, Index: ix, Clock: new(memory.Ticker)})
	b.w = e.AcquireWriter() // for the whole test
	b.x, err = New(t.Context(), Config{Owner: "ana", Wearer: "Ana"}, e, b.store, testKeys{seal.NewIdentity()}, plugins, slog.New(slog.NewTextHandler(b.log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// whole passes all past events at once.
func (b *bench) whole(run func(*engine.Writer) error) error { return run(b.w) }

func (b *bench) event(kind memory.Kind) memory.Event {
	b.seq++
	b.at = b.at.Add(10 * time.Second)
	return memory.Event{ID: memory.EventID{Device: "pin", Boot: 1, Seq: b.seq}, Kind: kind, At: b.at, Received: b.at}
}

func (b *bench) text(s string) memory.Event {
	ev := b.event(memory.KindText)
	ev.Text, ev.Speaker = s, "Ana"
	return ev
}

func (b *bench) must(ev memory.Event) Outcome {
	b.t.Helper()
	out, err := b.x.Process(b.t.Context(), b.w, ev)
	if err != nil {
		b.t.Fatal(err)
	}
	return out
}

// everything returns all that the store would show, as one text.
func (b *bench) everything() string {
	b.t.Helper()
	var s strings.Builder
	err := b.store.View(b.t.Context(), func(tx *store.Tx) error {
		for u, err := range tx.Utterances(time.Time{}, time.Time{}) {
			if err != nil {
				return err
			}
			s.WriteString("said " + u.Text + "\n")
		}
		for m, err := range tx.Memories(store.Filter{}) {
			if err != nil {
				return err
			}
			s.WriteString(string(m.Type) + " " + string(m.State) + " " + m.Text)
			for _, e := range m.Evidence {
				s.WriteString(" | " + e.Excerpt)
			}
			s.WriteString("\n")
		}
		for r, err := range tx.Refusals() {
			if err != nil {
				return err
			}
			s.WriteString("refused " + r.Kind + " " + r.Reason + "\n")
		}
		for m, err := range tx.Quarantined() {
			if err != nil {
				return err
			}
			s.WriteString("aside " + m.Reason + "\n")
		}
		return nil
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return s.String()
}

func nothing(*abi.Event) (abi.Output, error) { return abi.Output{}, nil }

func remember(text string, spans ...abi.Span) abi.Output {
	return abi.Output{Candidates: []abi.Candidate{{Type: "semantic", Text: text, Confidence: .8, Spans: spans}}}
}
