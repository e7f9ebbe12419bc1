package community

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/locket-dev/locket/cloud/api"
	"github.com/locket-dev/locket/cloud/relay"
	"github.com/locket-dev/locket/crypto/seal"
	"github.com/locket-dev/locket/internal/testing/relaytest"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/policy"
	"github.com/locket-dev/locket/node/policy/rulebook"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/node/share"
)

// serveRelay serves a relay on TCP, and returns its URL.
func serveRelay(t *testing.T) string {
	t.Helper()
	return relaytest.Serve(t, t.TempDir(), relay.Config{}, api.Config{}).URL
}

// ticks is a clock that advances by a second whenever it is read, so that what was said
// later has a later time. It is shared by all, and safe for concurrent use.
type ticks struct{ s atomic.Int64 }

func (c *ticks) now() time.Time {
	return time.Date(2026, 11, 20, 8, 30, 0, 0, time.UTC).Add(time.Duration(c.s.Add(1)) * time.Second)
}

// home is the home of one person: communities, memories, and the function that decides
// which of these may leave.
type home struct {
	*Communities
	giver    *share.Sharing
	key      *seal.Key
	founder  Founder
	memories []memory.Memory
	policy   string // in Cedar; empty: what is given by hand is permitted
	records  []share.Record
	account  []share.Deed
}

func newHome(t *testing.T, relay string, clock *ticks) *home {
	t.Helper()
	h := &home{Communities: &Communities{Reader: &share.Reader{Dir: t.TempDir(), Reserve: 1, Now: clock.now}}, key: seal.NewKey()}
	h.Reader.Log = slog.New(slog.DiscardHandler)
	root := share.Root(h.key)
	h.founder = Founder{Root: root, Recovery: seal.NewIdentity().Recipient(), Relay: relay}
	h.giver = share.New(share.Config{Dir: t.TempDir(), Key: h.key, Source: h, Catalog: h, Reserve: 1, Now: clock.now, Wearer: "Klara Novak", Allow: h.allow, Account: h})
	return h
}

func (h *home) allow(context.Context) (rulebook.Rules, error) {
	if h.policy == "" {
		return rulebook.ByHand(), nil
	}
	p, err := policy.Parse(h.policy)
	return rulebook.Rules{List: []policy.Policy{p}, Mine: true}, err
}

// Choose implements share.Source: it returns the memories that have all words of the
// query.
func (h *home) Choose(_ context.Context, c share.Criteria) (out []memory.Memory, err error) {
	for _, m := range h.memories {
		if c.Fits(&m) && !slices.ContainsFunc(strings.Fields(strings.ToLower(c.Query)), func(w string) bool { return !strings.Contains(strings.ToLower(m.Text), w) }) {
			out = append(out, m)
		}
	}
	return out, nil
}

func (h *home) Vocabulary(context.Context) (v share.Vocabulary, err error) {
	for i := range h.memories {
		v.Add(&h.memories[i])
	}
	return v, nil
}

func (h *home) Records(context.Context) ([]share.Record, error)      { return h.records, nil }
func (h *home) Keep(_ context.Context, records []share.Record) error { h.records = records; return nil }

// Note implements share.Account.
func (h *home) Note(_ context.Context, d share.Deed) error {
	h.account = share.AppendDeed(h.account, &d)
	return nil
}

// remember adds a memory to a home.
func (h *home) remember(text string, tags ...string) memory.ID {
	id := randomID()
	h.memories = append(h.memories, memory.Memory{ID: id, Space: memory.SpaceID{9}, State: memory.Active, Learnt: time.Date(2026, 11, 19, 8, 0, 0, 0, time.UTC),
		Candidate: memory.Candidate{Type: memory.Semantic, Text: text, Tags: tags, Owner: memory.Owner{User: memory.WearerUser}, Confidence: 0.9, Sensitivity: memory.Personal}})
	return id
}

func (h *home) forget(id memory.ID) {
	h.memories = slices.DeleteFunc(h.memories, func(m memory.Memory) bool { return m.ID == id })
}

// request returns what a home gives to somebody who invites it.
func (h *home) request(t fataler) string {
	t.Helper()
	text, _, err := h.Reader.Key()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

type fataler interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
}

func must[T any](t fataler) func(v T, err error) T {
	t.Helper()
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func tagged(tags ...string) share.ShareSpec {
	return share.ShareSpec{Criteria: share.Criteria{Tags: tags, Most: memory.Personal}}
}

func texts(items []serve.CommunityItem) []string {
	out := []string{}
	for _, it := range items {
		out = append(out, it.Text)
	}
	slices.Sort(out)
	return out
}

func idOf(t fataler, items []serve.CommunityItem, text string) string {
	t.Helper()
	for _, it := range items {
		if it.Text == text {
			return it.ID.String()
		}
	}
	t.Fatalf("no %q in %v", text, texts(items))
	return ""
}
