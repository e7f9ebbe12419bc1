// Package consolidate plans a dream: it merges memories that say the same,
// archives expired ones, keeps core blocks, and summarises days. It is
// pure: its input is the memories and how often each was used, and its output
// is a plan. Replicas with the same knowledge make the same plan.
//
//   - A [Plan] is a list of steps. Its id is derived from them.
//   - A [Step] changes one memory, and has a reason in words.
//
// A plan erases nothing, and changes nothing that is pinned or in the vault. A
// person's memory stays as it is, but others that repeat it can be merged into
// it. Each step becomes assertions that can be withdrawn; see
// [Step.Assertions].
package consolidate

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"time"

	"github.com/locket-dev/locket/internal/sorting"
	"github.com/locket-dev/locket/memory"
)

// Kind says what a step does.
type Kind string

const (
	Merge     Kind = "merge"     // it says the same as another memory, which gets its evidence
	Expire    Kind = "expire"    // it has expired and is archived
	Archive   Kind = "archive"   // it is no longer true and was not used for a long time
	Move      Kind = "move"      // a line of a full core block becomes a semantic memory
	Promote   Kind = "promote"   // what the wearer says about themselves again and again becomes a line of a core block
	Summarise Kind = "summarise" // summarises a day in a few lines
	Revive    Kind = "revive"    // two devices have merged memories into each other in a ring: one comes back
	Scrub     Kind = "scrub"     // a secret that was overlooked goes to the vault
)

// How long things are kept. The design sets 7 and 90 days. A year, after which
// a fact of the past that nobody asks for is archived, was chosen here.
const (
	OperationalFor = 7 * 24 * time.Hour
	ProjectFor     = 90 * 24 * time.Hour
	PastFor        = 365 * 24 * time.Hour
	// MaxSteps is the greatest number of steps of a plan. The next plan
	// continues.
	MaxSteps = 200
)

// Use is how often a memory was useful on this replica, and when it last was.
type Use struct {
	Count int       `json:"n"`
	Last  time.Time `json:"l"`
}

// Input is what a plan is made from.
type Input struct {
	Memories []memory.Memory // of every state but erased
	Uses     map[memory.ID]Use
	// Now is the time of the latest event. Expiry is judged by it, so that
	// nothing expires while a node is switched off.
	Now time.Time
	// Wall is the time by this device's clock, which tells whether a day is
	// over. Zero: Now.
	Wall time.Time
	Zone *time.Location // the zone that determines the days
	// Secret reports whether a memory contains a secret. nil means that no
	// memory does.
	Secret func(*memory.Memory) bool
	// ID returns the id of the memory that a step proposes; name says what the
	// memory is.
	ID func(name string) memory.ID
}

// Step changes one memory.
type Step struct {
	Kind      Kind              `json:"kind"`
	Memory    memory.ID         `json:"memory"`
	Text      string            `json:"text"`                // text of the memory, for display; empty for one that is scrubbed
	Into      memory.ID         `json:"into,omitzero"`       // merge: the memory that it is merged into; move, promote: the new one
	IntoText  string            `json:"into_text,omitempty"` // for display
	Reason    string            `json:"reason"`
	Candidate *memory.Candidate `json:"candidate,omitempty"` // move, summarise, promote
	Stamp     string            `json:"stamp"`               // fingerprint of what the plan saw, to detect changes since
}

// Plan is what a dream would do.
type Plan struct {
	ID    string    `json:"id"`
	At    time.Time `json:"at"`
	Steps []Step    `json:"steps"`
	More  bool      `json:"more,omitempty"` // there are more steps than the plan has room for
}

// New makes a plan. Its steps are independent of each other: at most one step
// changes a memory, and a memory into which others are merged is not changed
// otherwise.
func New(in Input) Plan {
	plan, err := Make(context.Background(), in)
	if err != nil {
		panic(err) // the context never ends
	}
	return plan
}

// Make is [New] with a context. When ctx is done, it returns ctx's error.
func Make(ctx context.Context, in Input) (Plan, error) {
	in.Zone = cmp.Or(in.Zone, time.UTC)
	if in.Wall.IsZero() {
		in.Wall = in.Now
	}
	p := planner{in: in, byID: map[memory.ID]*memory.Memory{}, taken: map[memory.ID]bool{}, gone: map[memory.ID]bool{}, away: map[memory.ID]bool{}, since: map[memory.ID]time.Time{}, over: func() bool { return ctx.Err() != nil }}
	for _, step := range []func(){p.sort, p.revive, p.scrub, p.expire, p.adopt, p.merge, p.core, p.blocks, p.days} {
		if step(); p.over() {
			return Plan{}, ctx.Err()
		}
	}
	plan := Plan{At: in.Now, Steps: p.steps}
	if len(plan.Steps) > MaxSteps {
		plan.Steps, plan.More = plan.Steps[:MaxSteps], true
	}
	h := sha256.New()
	for i := range plan.Steps {
		s := &plan.Steps[i]
		h.Write([]byte(string(s.Kind) + s.Memory.String() + s.Into.String() + s.Stamp + "\n"))
	}
	plan.ID = hex.EncodeToString(h.Sum(nil)[:6])
	return plan, nil
}

// planner is a plan that is being made.
type planner struct {
	in    Input
	all   []*memory.Memory // the memories that the plan may use, in the order of sort
	byID  map[memory.ID]*memory.Memory
	taken map[memory.ID]bool      // by a step
	away  map[memory.ID]bool      // expired
	gone  map[memory.ID]bool      // merged into another, or scrubbed
	since map[memory.ID]time.Time // time of the first evidence of memories that others were merged into
	steps []Step
	over  func() bool // nobody wants the plan any more, so what is running may end as it is
}

// sort orders memories: pinned ones first, then by higher rank, then those
// learnt earlier, then by smaller id. Replicas with the same knowledge have the
// same order.
func (p *planner) sort() {
	for i := range p.in.Memories {
		m := &p.in.Memories[i]
		p.byID[m.ID] = m
		if m.Type != memory.Vault && m.Sensitivity < memory.Secret && !m.Negates && !m.Repeats && m.State != memory.Erased {
			p.all = append(p.all, m)
		}
	}
	sorting.Sort(p.all, before)
}

func before(a, b *memory.Memory) int {
	pin := func(m *memory.Memory) int {
		if m.Pinned {
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(pin(b), pin(a)), cmp.Compare(b.Rank, a.Rank), a.Learnt.Compare(b.Learnt), slices.Compare(a.ID[:], b.ID[:]))
}

// may reports whether a machine may archive a memory.
func (p *planner) may(m *memory.Memory) bool {
	return !m.Pinned && m.Rank < memory.RankPerson && m.Type != memory.Vault && !p.taken[m.ID]
}

func (p *planner) add(s Step, of ...*memory.Memory) {
	s.Memory, s.Text = of[0].ID, of[0].Text
	s.Stamp = StateFingerprint(of[0])
	if len(of) > 1 {
		s.Stamp = mergeStamp(of[0], of[1])
	}
	for _, m := range of {
		p.taken[m.ID] = true
	}
	p.steps = append(p.steps, s)
}

// StateFingerprint returns a fingerprint of memories in their present state.
func StateFingerprint(ms ...*memory.Memory) string {
	h := sha256.New()
	for _, m := range ms {
		b, _ := json.Marshal([]any{m.ID, m.State, m.Pinned, m.Rank, m.Text, m.Fields, m.Tags, m.Heard, m.Into}) // all of these can be marshalled
		h.Write(b)
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// TextFingerprint returns a fingerprint of what memories say.
func TextFingerprint(ms ...*memory.Memory) string {
	h := sha256.New()
	for _, m := range ms {
		h.Write([]byte(m.ID.String() + m.Text + "\n"))
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// Assertions returns what a step asserts about the present memories. Memory,
// act, content and reason are set. The caller sets source and rank.
func (s *Step) Assertions(m, into *memory.Memory) []memory.Assertion {
	switch s.Kind {
	case Merge:
		out := []memory.Assertion{{Memory: s.Memory, Act: memory.ActArchive, Into: s.Into, Reason: s.Reason}}
		if !takes(into) {
			return out
		}
		if len(m.Evidence) > 0 {
			out = append(out, memory.Assertion{Memory: s.Into, Act: memory.ActReinforce, Evidence: m.Evidence, Reason: "took in what repeats it"})
		}
		return out
	case Expire, Archive:
		return []memory.Assertion{{Memory: s.Memory, Act: memory.ActArchive, Reason: s.Reason}}
	case Move:
		put := memory.Assertion{Memory: s.Memory, Act: memory.ActArchive, Into: s.Into, Reason: s.Reason}
		if s.Candidate == nil { // another step makes it
			return []memory.Assertion{put}
		}
		return []memory.Assertion{{Memory: s.Into, Act: memory.ActPropose, Candidate: s.Candidate, Reason: s.Reason}, put}
	case Revive:
		return []memory.Assertion{{Memory: s.Memory, Act: memory.ActRestore, Reason: s.Reason}}
	case Summarise, Promote:
		return []memory.Assertion{{Memory: s.Into, Act: memory.ActPropose, Candidate: s.Candidate, Reason: s.Reason}}
	}
	return nil // a scrub is not an assertion: the node does it
}

// takes reports whether evidence is added to the memory into which another is
// merged. It is not if that memory is pinned, or fills a slot, because earlier
// evidence would change its place among the slot's values. The merged memory
// keeps its own evidence.
func takes(into *memory.Memory) bool { return !into.Pinned && into.Slot == nil }

// Same reports whether a planned merge is still right: the memory is unchanged,
// and the memory that it is merged into has the same content, even if others
// were merged into it meanwhile.
func Same(s *Step, m, into *memory.Memory) bool { return s.Stamp == mergeStamp(m, into) }

func mergeStamp(m, into *memory.Memory) string { return StateFingerprint(m) + TextFingerprint(into) }
