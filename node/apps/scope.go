package apps

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/filter"
	"github.com/locket-dev/locket/memory/retrieve"
	"github.com/locket-dev/locket/node/policy"
	"github.com/locket-dev/locket/node/policy/rulebook"
	"github.com/locket-dev/locket/node/serve"
)

// scope says which memories an app may see.
type scope struct {
	types        []memory.Type
	lines        bool // includes utterances
	most         memory.Sensitivity
	tags         []string // at least one of them; empty: any
	since, until time.Time
	owner        memory.Owner // as far as it is given
	// decide is the wearer's policy. With waits, the scope also includes what a rule asks the
	// wearer about.
	decide func(*policy.Item) policy.Decision
	ruled  bool // the wearer has set a policy
	waits  bool
}

func scopeOf(r *serve.AppRequest, q policy.Request, rules *rulebook.Rules, now time.Time) scope {
	q.Now = now
	s := scope{decide: func(it *policy.Item) policy.Decision { return rules.Decide(&q, it) }, ruled: rules.Mine, most: memory.Personal, tags: r.Tags, since: r.Since, until: r.Until, owner: r.Owner}
	if r.Sensitivity != nil {
		s.most = *r.Sensitivity
	}
	for _, t := range r.Types {
		if t == serve.AppUtterances {
			s.lines = true
		} else if t != string(memory.Vault) {
			s.types = append(s.types, memory.Type(t))
		}
	}
	return s
}

// Sees returns what an app with a scope may see. key identifies its key in policy rules.
func Sees(r *serve.AppRequest, app, key string, rules *rulebook.Rules, now time.Time) func(*memory.Memory) bool {
	s := scopeOf(r, policy.Request{Action: policy.Read, Kind: policy.App, Name: app, Key: key}, rules, now)
	return s.sees
}

// sees reports whether the app may see a memory.
func (s *scope) sees(m *memory.Memory) bool {
	switch {
	case m.State == memory.Erased, m.Type == memory.Vault, m.Fields.Vault != nil, m.Cold:
		return false
	case !slices.Contains(s.types, m.Type), m.Sensitivity > s.most:
		return false
	case len(s.tags) > 0 && !slices.ContainsFunc(s.tags, func(t string) bool { return slices.Contains(m.Tags, t) }):
		return false
	}
	return s.within(m.When()) && s.owns(m.Owner) && s.allows(policy.ItemOf(m))
}

// seesLine reports whether the app may see an utterance.
func (s *scope) seesLine(u *memory.Utterance) bool {
	return s.lines && s.within(u.At) && s.owns(memory.Owner{User: cmp.Or(u.User, memory.WearerUser), Agent: u.Agent, Run: u.Run}) &&
		s.allows(policy.ItemOfLine(u))
}

func (s *scope) allows(it policy.Item) bool {
	d := s.decide(&it)
	return d.Allow || s.waits && d.Asks
}

// within reports whether a time is within the app's limits.
func (s *scope) within(t time.Time) bool {
	return (s.since.IsZero() || !t.Before(s.since)) && (s.until.IsZero() || t.Before(s.until))
}

func (s *scope) owns(o memory.Owner) bool {
	return (s.owner.User == "" || s.owner.User == o.User) && (s.owner.Agent == "" || s.owner.Agent == o.Agent) && (s.owner.Run == "" || s.owner.Run == o.Run)
}

// filter returns a filter that selects the same as sees and seesLine.
func (s *scope) filter() filter.Filter {
	return filter.Glanced(func(it *filter.Item) bool {
		if it.Memory != nil {
			return s.sees(it.Memory)
		}
		return it.Utterance != nil && s.seesLine(it.Utterance)
	}, s.glance)
}

// glance returns the result of sees and seesLine as far as type and sensitivity decide it. A
// policy of the wearer may depend on anything; without one, each memory that is found passes.
func (s *scope) glance(b filter.Brief) filter.Verdict {
	switch {
	case b.Utterance && !s.lines, !b.Utterance && !slices.Contains(s.types, b.Type), b.Rated && b.Sensitivity > s.most:
		return filter.No
	case b.Plain && !s.owns(memory.Owner{User: memory.WearerUser}):
		return filter.No
	case b.Utterance, !b.Rated, s.ruled, len(s.tags) > 0, s.owner != memory.Owner{} && !b.Plain, !s.since.IsZero(), !s.until.IsZero():
		return filter.Unsure
	}
	return filter.Yes
}

// asked returns an app's filter, applied to memories as the app sees them. If it could select
// by what the app is not shown, the app would learn that.
func (s *scope) asked(f filter.Filter) filter.Filter {
	if f.IsZero() {
		return s.filter()
	}
	return filter.All(s.filter(), filter.Glanced(func(it *filter.Item) bool {
		if it.Memory == nil {
			return f.Match(it)
		}
		m := s.show(*it.Memory)
		return f.Match(&filter.Item{Memory: &m, Categories: it.Categories})
	}, f.Glance)) // an index knows nothing of a memory that show changes
}

// show returns a memory as the app sees it: without links to other memories, which the app may
// not see, without evidence outside its times, and for a visit the place's name without its
// position.
func (s *scope) show(m memory.Memory) memory.Memory {
	m.Into, m.Links, m.Conflict, m.Repeats = memory.ID{}, nil, nil, false
	if _, ok := m.Metadata[memory.MetaPosition]; ok && m.Source.Plugin == "node" {
		m.Metadata = maps.Clone(m.Metadata)
		delete(m.Metadata, memory.MetaPosition)
	}
	m.Evidence = s.evidence(m.Evidence)
	return m
}

// evidence returns the evidence within the app's times, without excerpts: the lines may say
// what a correction has removed from the memory.
func (s *scope) evidence(list []memory.Evidence) []memory.Evidence {
	out := slices.DeleteFunc(slices.Clone(list), func(e memory.Evidence) bool { return !s.within(e.At) })
	for i := range out {
		if !s.lines {
			out[i].Excerpt, out[i].Start, out[i].End, out[i].Utterance = "", 0, 0, memory.ID{}
		}
	}
	return out
}

// change returns a change of a memory that the app sees now. Only the owner sees earlier
// texts, because the memory may have been more private then, or was corrected.
func (s *scope) change(c memory.Change, m *memory.Memory) memory.Change {
	if c.Old != m.Text {
		c.Old = ""
	}
	if c.New != m.Text {
		c.New = ""
	}
	c.Other, c.Reason = memory.ID{}, ""
	return c
}

// tokens returns how much of a model's context memories take.
func tokens(ms ...memory.Memory) (n int) {
	for i := range ms {
		n += retrieve.Tokens(ms[i].AllText())
	}
	return n
}
