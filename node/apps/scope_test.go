package apps

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/filter"
	"github.com/locket-dev/locket/node/policy"
)

// The index decides about a scope and an app's filter in the same way as the memory itself would:
// an app is shown neither more nor less because a record was not read.
func TestScopeInTheIndex(t *testing.T) {
	r := rand.New(rand.NewPCG(22, 7))
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	day := func(n int) time.Time { return time.Date(2026, 3, 1+n, 0, 0, 0, 0, time.UTC) }
	owner := func() memory.Owner {
		return memory.Owner{User: pick(memory.WearerUser, memory.WearerUser, "ann", ""), Agent: pick("", "", "a"), Run: pick("", "", "r")}
	}
	lines := []string{"user = wearer", "user = ann", "not user = wearer", "agent = a", "not run exists", "type = core or user = ann", "sensitivity <= personal", "tags = work", "said > 2026-03-02"}
	var filters []filter.Filter
	for _, l := range lines {
		f, err := filter.Parse(l, nil)
		if err != nil {
			t.Fatal(err)
		}
		filters = append(filters, f)
	}
	said := map[filter.Verdict]int{}
	for range 20_000 {
		s := scope{lines: r.IntN(2) == 0, most: memory.Sensitivity(r.IntN(4)), ruled: r.IntN(4) == 0}
		denied := r.IntN(2) == 0
		s.decide = func(it *policy.Item) policy.Decision { return policy.Decision{Allow: !s.ruled || !denied} }
		for _, typ := range memory.Types {
			if typ != memory.Vault && r.IntN(2) == 0 {
				s.types = append(s.types, typ)
			}
		}
		if r.IntN(3) == 0 {
			s.owner = memory.Owner{User: pick("", memory.WearerUser, "ann"), Agent: pick("", "", "a"), Run: pick("", "", "r")}
		}
		if r.IntN(4) == 0 {
			s.tags = []string{pick("work", "home")}
		}
		if r.IntN(4) == 0 {
			s.since = day(r.IntN(3))
		}
		m := memory.Memory{State: memory.Active, Candidate: memory.Candidate{Type: memory.Types[r.IntN(len(memory.Types))], Sensitivity: memory.Sensitivity(r.IntN(4)), Owner: owner(),
			Tags: []string{pick("work", "home")}, TrueFrom: day(r.IntN(4)), Evidence: []memory.Evidence{{At: day(r.IntN(4))}}}}
		b := filter.Brief{Type: m.Type, Plain: m.Owner == memory.Owner{User: memory.WearerUser} && r.IntN(4) > 0}
		if b.Rated = r.IntN(4) > 0; b.Rated {
			b.Sensitivity = m.Sensitivity
		}
		for _, f := range []filter.Filter{s.filter(), s.asked(filters[r.IntN(len(filters))])} {
			v := f.Glance(b)
			said[v]++
			if v != filter.Unsure && (v == filter.Yes) != f.Match(&filter.Item{Memory: &m}) {
				t.Fatalf("%+v of %+v: %d by the index", s, m, v)
			}
		}
	}
	for _, v := range []filter.Verdict{filter.No, filter.Unsure, filter.Yes} {
		if said[v] < 100 {
			t.Errorf("only %d were %d", said[v], v)
		}
	}
}

// An app is told the place where the wearer was, but not its position. What an app or a caller has
// stored under the same key is its own.
func TestPositionIsHidden(t *testing.T) {
	m := memory.Memory{Candidate: memory.Candidate{Source: memory.Source{Plugin: "node"}, Metadata: memory.Metadata{memory.MetaPosition: "31.2,121.4", "place": "Home"}}}
	var s scope
	if got := s.show(m).Metadata; len(got) != 1 || got["place"] != "Home" {
		t.Errorf("an app sees %v", got)
	}
	if len(m.Metadata) != 2 {
		t.Errorf("the memory itself has %v", m.Metadata)
	}
	m.Source.Plugin = ""
	if got := s.show(m).Metadata; len(got) != 2 {
		t.Errorf("of a caller's own it sees %v", got)
	}
}
