// Package consolidate plans what a memory does in its sleep: it merges what is
// said twice, puts away what has had its day, rewrites full blocks, and sums
// days up. It is pure: what is remembered and how often it was of use comes
// in, a plan goes out, the same on every replica that knows the same.
//
//   - A [Plan] is a list of steps, with an id that follows from them.
//   - A [Step] changes one memory, and says why in words.
//
// Nothing here erases, and nothing touches what is pinned or in the vault. What
// a person has said is kept as it is: it can take in what repeats it. Each step
// becomes assertions that can be withdrawn; see [Step.Assertions].
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

// Kind is what a step does.
type Kind string

const (
	Merge     Kind = "merge"     // says what another says: its evidence goes there
	Expire    Kind = "expire"    // had its day: archived
	Archive   Kind = "archive"   // no longer so, and long unused
	Move      Kind = "move"      // a line of a full core block becomes a semantic memory
	Summarise Kind = "summarise" // a day in a few lines
	Revive    Kind = "revive"    // two devices have merged each into the other: one comes back
	Scrub     Kind = "scrub"     // a credential that was missed goes to the vault
)

// How long things last. Seven and ninety days are the design's; a year after
// which a past fact that nobody asks for is put away was chosen here.
const (
	OperationalFor = 7 * 24 * time.Hour
	ProjectFor     = 90 * 24 * time.Hour
	PastFor        = 365 * 24 * time.Hour
	// MaxSteps is how many steps one plan has; the next one goes on.
	MaxSteps = 200
)

// Use is how often a memory was of use on this replica, and when last.
type Use struct {
	Count int       `json:"n"`
	Last  time.Time `json:"l"`
}

// Input is what a plan is made of.
type Input struct {
	Memories []memory.Memory // of every state but erased
	Uses     map[memory.ID]Use
	// Now is the clock of events: what had its day is judged by it, so that a
	// node that was in a drawer for a month loses nothing for it.
	Now time.Time
	// Wall is the clock of this device: by it a day is over. Zero: Now.
	Wall time.Time
	Zone *time.Location // in which a day is a day
	// Secret reports whether a memory holds a credential; nil: nobody looked.
	Secret func(*memory.Memory) bool
	// ID names the memory that a step proposes, after a word for what it is.
	ID func(name string) memory.ID
}

// Step changes one memory.
type Step struct {
	Kind      Kind              `json:"kind"`
	Memory    memory.ID         `json:"memory"`
	Text      string            `json:"text"`                // of the memory, to show; not of one that is scrubbed
	Into      memory.ID         `json:"into,omitzero"`       // merge: which takes it in; move: the new one
	IntoText  string            `json:"into_text,omitempty"` // to show
	Reason    string            `json:"reason"`
	Candidate *memory.Candidate `json:"candidate,omitempty"` // move, summarise
	Stamp     string            `json:"stamp"`               // what was looked at, for whether it changed since
}

// Plan is what would be done.
type Plan struct {
	ID    string    `json:"id"`
	At    time.Time `json:"at"`
	Steps []Step    `json:"steps"`
	More  bool      `json:"more,omitempty"` // there is more than one plan holds
}

// New makes a plan. Its steps do not depend on each other: each memory is
// changed by one of them at most, and what takes another in by nothing else.
func New(in Input) Plan {
	plan, err := Make(context.Background(), in)
	if err != nil {
		panic(err) // nothing ends that context
	}
	return plan
}

// Make is [New] until ctx is done: then its error is that of ctx.
func Make(ctx context.Context, in Input) (Plan, error) {
	if in.Zone == nil {
		in.Zone = time.UTC
	}
	if in.Wall.IsZero() {
		in.Wall = in.Now
	}
	p := planner{in: in, byID: map[memory.ID]*memory.Memory{}, taken: map[memory.ID]bool{}, gone: map[memory.ID]bool{}, away: map[memory.ID]bool{}, since: map[memory.ID]time.Time{}, over: func() bool { return ctx.Err() != nil }}
	for _, step := range []func(){p.sort, p.revive, p.scrub, p.expire, p.adopt, p.merge, p.blocks, p.days} {
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

// planner is a plan under way.
type planner struct {
	in    Input
	all   []*memory.Memory // those that may be looked at, in order of standing
	byID  map[memory.ID]*memory.Memory
	taken map[memory.ID]bool      // by a step
	away  map[memory.ID]bool      // expired
	gone  map[memory.ID]bool      // merged into another, or scrubbed
	since map[memory.ID]time.Time // when the first evidence of those that took others in is of
	steps []Step
	over  func() bool // somebody wants no plan any more: what is under way may end as it is
}

// sort puts memories in the order in which one stands before another: pinned,
// of a higher rank, learnt earlier, of the lesser id. Replicas agree on it as
// far as they know the same.
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

// may reports whether a machine may put a memory away here.
func (p *planner) may(m *memory.Memory) bool {
	return !m.Pinned && m.Rank < memory.RankPerson && m.Type != memory.Vault && !p.taken[m.ID]
}

func (p *planner) add(s Step, of ...*memory.Memory) {
	s.Memory, s.Text = of[0].ID, of[0].Text
	s.Stamp = Stamp(of[0])
	if len(of) > 1 {
		s.Stamp = mergeStamp(of[0], of[1])
	}
	for _, m := range of {
		p.taken[m.ID] = true
	}
	p.steps = append(p.steps, s)
}

// Stamp is a fingerprint of memories, as they are.
func Stamp(ms ...*memory.Memory) string {
	h := sha256.New()
	for _, m := range ms {
		b, _ := json.Marshal([]any{m.ID, m.State, m.Pinned, m.Rank, m.Text, m.Fields, m.Tags, m.Heard, m.Into}) // of such, all can be marshalled
		h.Write(b)
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// Words is a fingerprint of what memories say.
func Words(ms ...*memory.Memory) string {
	h := sha256.New()
	for _, m := range ms {
		h.Write([]byte(m.ID.String() + m.Text + "\n"))
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// Assertions gives what a step says of the memories as they are: memory, act,
// content and reason are set. Source and rank are the caller's.
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
	case Summarise:
		return []memory.Assertion{{Memory: s.Into, Act: memory.ActPropose, Candidate: s.Candidate, Reason: s.Reason}}
	}
	return nil // scrub is not said, it is done
}

// takes reports whether evidence is added to what takes another in: not to what
// is pinned, nor to what stands in a slot, whose place among its values an
// earlier evidence would change. What was merged keeps its own.
func takes(into *memory.Memory) bool { return !into.Pinned && into.Slot == nil }

// Same reports whether a merge still is what was planned: the memory is as it
// was, and what takes it in says the same, whatever else it took in meanwhile.
func Same(s *Step, m, into *memory.Memory) bool { return s.Stamp == mergeStamp(m, into) }

func mergeStamp(m, into *memory.Memory) string { return Stamp(m) + Words(into) }
