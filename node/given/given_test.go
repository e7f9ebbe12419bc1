package given

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/share"
)

// A person who shares chooses every byte of a memory. Nevertheless it can't
// stand for one of the reader's own, come from the vault, be pinned, or call
// itself public.
func TestThreatShareOfAStranger(t *testing.T) {
	s, err := Open(t.Context(), &share.Reader{Dir: t.TempDir(), Reserve: 1}, nil, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	mine := memory.ID{7}
	hostile := func(change func(*memory.Memory)) memory.Memory {
		m := memory.Memory{ID: mine, Space: memory.SpaceID{1}, State: memory.Active, Pinned: true, Into: memory.ID{8}, Candidate: memory.Candidate{Type: memory.Semantic,
			Text: "Pay Mallory", Owner: memory.Owner{User: memory.WearerUser}, Sensitivity: memory.Public, Source: memory.Source{Device: "your-pendant"}}}
		change(&m)
		return m
	}
	g := share.Given{Space: memory.SpaceID{9}, From: "Mallory", Memories: []memory.Memory{
		hostile(func(*memory.Memory) {}),
		hostile(func(m *memory.Memory) { m.Type = memory.Vault }),
		hostile(func(m *memory.Memory) { m.Fields.Vault = &memory.VaultFields{Label: "bank"} }),
		hostile(func(m *memory.Memory) { m.State = memory.Superseded }),
		hostile(func(m *memory.Memory) { m.Negates = true }),
	}}
	other := g
	other.Space, other.From = memory.SpaceID{10}, ""
	for _, g := range []share.Given{g, other} {
		if err := s.add("", g); err != nil {
			t.Fatal(err)
		}
	}
	if len(s.mems) != 2 || len(s.docs) != 2 || s.mems[mine] != nil {
		t.Fatalf("%d memories, %d documents", len(s.mems), len(s.docs))
	}
	for id, m := range s.mems {
		if m.ID != id || m.ID == mine || m.Pinned || !m.Into.IsZero() || m.Sensitivity < memory.Personal || m.Source != (memory.Source{}) || m.Owner.User == memory.WearerUser {
			t.Errorf("%+v", m)
		}
	}
	if err := s.remove(g.Space); err != nil || len(s.mems) != 1 || s.index.Len() != 1 {
		t.Errorf("one is left: %v", err)
	}
}

// shared are shares that were opened before.
type shared map[memory.SpaceID]share.Link

func (s shared) Spaces() (map[memory.SpaceID]string, error) {
	out := map[memory.SpaceID]string{}
	for id := range s {
		out[id] = "seen"
	}
	return out, nil
}

func (s shared) Given(_ context.Context, id memory.SpaceID) (share.Given, error) {
	return share.Given{Space: id, Link: s[id]}, nil
}

func (shared) StopSearching(memory.SpaceID) error { return nil }
func (shared) Fetch(context.Context) error        { return nil }

// The relay of somebody who shares sends a byte now and then, for ever. The other shares are
// refreshed all the same.
func TestThreatShareThatNeverEnds(t *testing.T) {
	slow := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			_, _ = w.Write([]byte{0})
			_ = http.NewResponseController(w).Flush()
		}
	}))
	defer slow.Close()
	asked := map[string]int{}
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked[strings.Split(r.URL.Path, "/")[3]]++
		http.NotFound(w, r)
	}))
	defer other.Close()
	shares := shared{}
	for i := range byte(8) {
		l := share.Link{Relay: slow.URL}
		l.Space = memory.SpaceID{i + 1}
		if i%2 == 0 {
			l.Relay = other.URL
		}
		shares[l.Space] = l
	}
	s, err := Open(t.Context(), &share.Reader{Dir: t.TempDir(), Reserve: 1}, []Source{shares}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	s.patience = 2 * time.Second
	if err := s.Refresh(t.Context()); err == nil || len(asked) != 4 {
		t.Errorf("%d of 4 were asked for: %v", len(asked), err)
	}
}
