package consolidate

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/locket-dev/locket/internal/sorting"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/reconcile"
)

// revive brings back one of the memories that several devices have merged into each other in a
// ring: the first in the order of sort.
func (p *planner) revive() {
	for _, m := range p.all {
		if m.State != memory.Archived || m.Into.IsZero() || p.taken[m.ID] {
			continue
		}
		ring := []*memory.Memory{m}
		for at := p.byID[m.Into]; at != nil && at.State == memory.Archived && len(ring) <= len(p.all); at = p.byID[at.Into] {
			if at == m {
				// m comes before all others of the ring in p.all.
				if !slices.ContainsFunc(ring, func(o *memory.Memory) bool { return p.taken[o.ID] }) {
					p.add(Step{Kind: Revive, Reason: "was merged into what was merged into it"}, m)
				}
				for _, o := range ring {
					p.taken[o.ID] = true
				}
				break
			}
			ring = append(ring, at)
		}
	}
}

func (p *planner) scrub() {
	if p.in.Secret == nil {
		return
	}
	for _, m := range p.all {
		if !m.Pinned && !p.taken[m.ID] && p.in.Secret(m) {
			p.add(Step{Kind: Scrub, Reason: "holds what looks like a credential: it goes to the vault, for good"}, m)
			p.steps[len(p.steps)-1].Text = "(not shown)" // nor may it be in a plan
			p.gone[m.ID] = true
		}
	}
}

// merge merges each memory into an earlier one that says the same.
func (p *planner) merge() {
	by := map[string][]*memory.Memory{} // the memories that stay, by what they say
	for _, m := range p.all {
		if m.State != memory.Active || p.taken[m.ID] || m.Type == memory.Resource || m.Type == memory.Core {
			continue
		}
		if p.over() {
			return
		}
		says := reconcile.Statement(m.Text)
		into := p.taker(m, by[says])
		if into != nil && p.may(m) {
			s := Step{Kind: Merge, Into: into.ID, IntoText: into.Text, Reason: "says what another memory says"}
			p.add(s, m, into)
			p.gone[m.ID] = true
			p.takeIn(into, m)
			continue
		}
		by[says] = append(by[says], m)
	}
}

// taker returns the first memory of some that says what m says.
func (p *planner) taker(m *memory.Memory, of []*memory.Memory) (best *memory.Memory) {
	for _, o := range of {
		if !p.gone[o.ID] && alike(m, o) && (best == nil || before(o, best) < 0) {
			best = o
		}
	}
	return best
}

// alike reports whether two memories say the same. What happened on two days are two events.
func alike(a, b *memory.Memory) bool {
	if a.Type != b.Type || a.Owner != b.Owner {
		return false
	}
	if a.Type == memory.Episodic && (!day(a).Equal(day(b)) || a.Slot != nil || b.Slot != nil) {
		return false
	}
	if (a.Slot == nil) != (b.Slot == nil) {
		return memory.Normal(a.Text) == memory.Normal(b.Text)
	}
	return reconcile.Same(&a.Candidate, b)
}

// day returns the day of which a memory tells, in UTC.
func day(m *memory.Memory) time.Time {
	at := m.When()
	if e := m.Fields.Episodic; e != nil && !e.Started.IsZero() {
		at = e.Started
	}
	return at.UTC().Truncate(24 * time.Hour)
}

// takeIn records the time of the first evidence of a memory into which another is merged.
func (p *planner) takeIn(into, m *memory.Memory) {
	at, ok := p.since[into.ID]
	if !ok {
		at = into.When()
	}
	if first := m.When(); first.Before(at) && takes(into) {
		at = first
	}
	p.since[into.ID] = at
}

// lasts returns how long a memory is useful after its time, or 0 for ever, and
// its kind in words. This follows from tags, which extractors and persons set.
// A memory that fills a single-valued slot does not expire: it is true until
// the next value replaces it.
func lasts(m *memory.Memory) (time.Duration, string) {
	has := func(tags ...string) bool {
		return slices.ContainsFunc(tags, func(t string) bool { return slices.Contains(m.Tags, t) })
	}
	switch {
	case m.Type == memory.Core || m.Type == memory.Procedural || m.Type == memory.Vault || has("summary", "keep"), m.Slot != nil && !m.Slot.Many:
		return 0, ""
	case has("operational", "place", "errand", "reminder", "todo", "status"):
		return OperationalFor, "of the day"
	case has("project", "plan", "task", "promise", "appointment", "deadline"):
		return ProjectFor, "of a project"
	case has("noted"):
		return ProjectFor, "noted by no rule"
	}
	return 0, ""
}

// expire archives expired memories, and past facts that nobody asks for.
func (p *planner) expire() {
	for _, m := range p.all {
		if !p.may(m) || m.State != memory.Active && m.State != memory.Superseded {
			continue
		}
		at := m.Fields.Episodic.EndTime(m.When())
		for _, later := range []time.Time{lastHeard(m), p.in.Uses[m.ID].Last} {
			if later.After(at) {
				at = later
			}
		}
		days := int(p.in.Now.Sub(at).Hours() / 24)
		if keep, what := lasts(m); keep > 0 && p.in.Now.Sub(at) > keep {
			p.away[m.ID] = true
			p.add(Step{Kind: Expire, Reason: fmt.Sprintf("%s, and over, or last heard or asked for, %d days ago", what, days)}, m)
			continue
		}
		if ended := m.TrueTo; m.State == memory.Superseded && !ended.IsZero() && p.in.Now.Sub(ended) > PastFor && p.in.Now.Sub(at) > PastFor {
			p.add(Step{Kind: Archive, Reason: fmt.Sprintf("not so since %s, and not asked for in %d days", ended.Format(time.DateOnly), days)}, m)
		}
	}
}

func lastHeard(m *memory.Memory) (at time.Time) {
	for _, e := range m.Evidence {
		if e.At.After(at) {
			at = e.At
		}
	}
	return at
}

// blocks moves lines out of full core blocks.
func (p *planner) blocks() {
	type key struct {
		owner memory.Owner
		block string
	}
	all := map[key][]*memory.Memory{}
	for _, m := range p.all {
		if f := m.Fields.Core; m.Type == memory.Core && f != nil && m.State == memory.Active {
			all[key{m.Owner, f.Block}] = append(all[key{m.Owner, f.Block}], m)
		}
	}
	keys := sorting.Sorted(maps.Keys(all), func(a, b key) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	var made []memory.Memory
	for _, k := range keys {
		ms := all[k]
		sorting.Sort(ms, func(a, b *memory.Memory) int { return a.When().Compare(b.When()) })
		lines, limit, size := make([]memory.CoreLine, len(ms)), 0, 0
		for i, m := range ms {
			lines[i] = memory.CoreLine{Text: m.Text, Uses: p.in.Uses[m.ID].Count, Keep: !p.may(m) || healthy(m)}
			limit, size = max(limit, m.Fields.Core.Limit), size+utf8.RuneCountInString(m.Text)+1
		}
		c := memory.Condense(lines, limit)
		for _, i := range append(c.Drop, c.Move...) {
			m := ms[i]
			cand := memory.Candidate{Type: memory.Semantic, Text: m.Text, Lang: m.Lang, Owner: m.Owner, Evidence: m.Evidence, Entities: m.Entities,
				Links: []memory.Link{{Relation: DerivedFrom, To: m.ID.String()}}, Tags: []string{"core"}, Source: m.Source, Confidence: m.Confidence, Sensitivity: m.Sensitivity, TrueFrom: m.TrueFrom}
			why := fmt.Sprintf("the block %s holds %d of %d characters: the least used and oldest line ", k.block, size-1, limit)
			moved := memory.Memory{ID: p.in.ID("core " + m.ID.String()), Candidate: cand, State: memory.Active}
			if into := p.findAlike(&moved); into != nil {
				p.add(Step{Kind: Merge, Into: into.ID, IntoText: into.Text, Reason: why + "stands in a semantic memory as well"}, m, into)
				p.takeIn(into, m)
				continue
			}
			if i := slices.IndexFunc(made, func(o memory.Memory) bool { return alike(&moved, &o) }); i >= 0 {
				p.add(Step{Kind: Move, Into: made[i].ID, IntoText: made[i].Text, Reason: why + "says what another says that becomes a semantic memory"}, m)
				continue
			}
			if o := p.stated(&moved); o != nil {
				p.add(Step{Kind: Move, Into: o.ID, IntoText: o.Text, Reason: why + "was said before, and is kept there as it is now"}, m)
				continue
			}
			made = append(made, moved)
			p.add(Step{Kind: Move, Into: moved.ID, IntoText: cand.Text, Candidate: &cand, Reason: why + "becomes a semantic memory"}, m)
		}
	}
}

// findAlike returns a memory that stays and says the same as m, or nil.
func (p *planner) findAlike(m *memory.Memory) *memory.Memory {
	for _, o := range p.all {
		if o.State == memory.Active && !p.away[o.ID] && !p.gone[o.ID] && alike(m, o) {
			return o
		}
	}
	return nil
}

// stated returns a memory with which m would be reconciled: one that was archived before or
// by this plan, or that a person has rewritten. To propose m again would change that memory.
func (p *planner) stated(m *memory.Memory) *memory.Memory {
	group := m.Candidate.Group()
	for _, o := range p.all {
		if o.Group == group || o.Candidate.Group() == group {
			return o
		}
	}
	return nil
}

// DerivedFrom is the relation from a memory to the memories that it was made from.
const DerivedFrom = "derived_from"
