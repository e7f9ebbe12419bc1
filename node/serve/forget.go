package serve

import (
	"context"
	"crypto/rand"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/config"
)

// Forgetter erases on request, and first shows what it would erase.
type Forgetter interface {
	resolver
	// PlanForget lists what Forget would erase now. It changes nothing.
	PlanForget(ctx context.Context, s ForgetSelection) (ForgetPlan, error)
	// Forget erases what the plan lists, and nothing that came later.
	Forget(ctx context.Context, p ForgetPlan) (ForgetResult, error)
}

// ForgetSelection selects what to forget. Everything that is set must match. Of
// the ways to name a time (Last, When, or Since and Until), at most one may be
// set.
type ForgetSelection struct {
	IDs    []memory.ID     // memories or utterances
	Query  string          // texts that contain every word
	Last   config.Duration // what was said or received during this time until now
	When   string          // a time in words, by the node's clock and zone: "yesterday in the office"
	Since  time.Time       // said at or after
	Until  time.Time       // said before; zero: no end
	Person string          // who said it, or is named in it
	Place  string          // where it was said, or what it is about
	Device string          // the device that heard it
	Scope  *memory.Owner   // memories of that owner; empty user: the wearer; empty agent and run: any
}

// ForgetPlan lists what would be erased. The handler stores it under a token,
// so that exactly what was shown is confirmed.
type ForgetPlan struct {
	Memories   []Related `json:"memories"`
	Utterances []Related `json:"utterances"`
	Trimmed    []Related `json:"trimmed"`       // memories that lose some of their evidence and keep other evidence; they get a new id
	Events     int       `json:"events"`        // number of raw events: audio, photos, text
	Bytes      int64     `json:"bytes"`         // size of the raw events
	From       time.Time `json:"from,omitzero"` // beginning of the time span, if a time was given
	To         time.Time `json:"to,omitzero"`
	Unseen     int       `json:"unseen,omitempty"` // cold memories that can't be read now; what was made from them stays

	Sources     []memory.EventID `json:"-"` // the events
	Quarantined []uint64         `json:"-"` // numbers of quarantined entries
	Scope       *memory.Owner    `json:"-"` // the requested scope
}

// ForgetRequest is the body of POST /v1/forget: a selection with Plan, or a plan's
// token in Confirm.
type ForgetRequest struct {
	IDs     []string        `json:"ids,omitempty"` // ids of memories, which may be abbreviated, and of lines
	Query   string          `json:"query,omitempty"`
	Last    config.Duration `json:"last,omitempty"`
	When    string          `json:"when,omitempty"` // "last 10 minutes", "yesterday in the office"
	Since   time.Time       `json:"since,omitzero"`
	Until   time.Time       `json:"until,omitzero"`
	Person  string          `json:"person,omitempty"` // who said it, or is named in it
	Place   string          `json:"place,omitempty"`  // where it was said, or what it is about
	Device  string          `json:"device,omitempty"` // the device that heard it
	Plan    bool            `json:"plan,omitempty"`
	Confirm string          `json:"confirm,omitempty"`
}

type deleteQuery struct {
	User    string  `query:"user" doc:"only memories of this user"`
	Agent   string  `query:"agent" doc:"only memories of this agent"`
	Run     string  `query:"run" doc:"only memories of this run"`
	Confirm *string `query:"confirm" doc:"token of a plan for the same owner"`
}

// ForgetAnswer is a plan with its token, or a result.
type ForgetAnswer struct {
	Plan    *ForgetPlan   `json:"plan,omitempty"`
	Confirm string        `json:"confirm,omitempty"` // token, which is valid once and for 10 minutes
	Expires time.Time     `json:"expires,omitzero"`
	Result  *ForgetResult `json:"result,omitempty"`
}

// ForgetResult counts what was erased.
type ForgetResult struct {
	Memories   int `json:"memories"`
	Utterances int `json:"utterances"`
	Events     int `json:"events"`
	Trimmed    int `json:"trimmed"` // memories that were kept because they have other evidence
}

// planner stores plans between showing and confirming them.
type planner struct {
	Forgetter
	plans plans
	now   func() time.Time
}

var forgetTopic = topic[*planner]{forget.untyped, deleteMemories.untyped}

var (
	forget = jsonRoute(RightOwner, spec{
		method: "POST", path: "/v1/forget", id: "forget",
		summary: "Erase a selection, in two steps",
		about:   "First send a selection with plan true: the answer lists what it selects and what was made from that. All of ids, query, person, place, device and time that are given must match; a time is one of last, when, and since with until. Then send only the token of the answer, as confirm, within 10 minutes. What arrived since the plan is not erased.",
		gives:   "A plan with its token, or what was erased",
	}, (*planner).forget)

	deleteMemories = jsonRoute(RightOwner, spec{
		method: "DELETE", path: "/v1/memories", id: "deleteMemories",
		summary: "Erase every memory of an owner, in two steps",
		about:   "Without confirm, the answer is a plan. It has the memories of that user, agent and run (all that are given must match; the default user is the wearer), and the lines from which no other memory was made. With the token of the plan and the same owner, the plan is carried out.",
		gives:   "A plan with its token, or what was erased",
	}, (*planner).deleteAll)
)

func (s *planner) forget(ctx context.Context, req ForgetRequest) (ForgetAnswer, error) {
	if req.Confirm != "" {
		return s.confirm(ctx, req.Confirm, nil)
	}
	sel := ForgetSelection{Query: req.Query, Last: req.Last, When: req.When, Since: req.Since, Until: req.Until,
		Person: req.Person, Place: req.Place, Device: req.Device}
	for _, text := range req.IDs {
		id, err := memory.ParseID(text) // of a memory or a line
		if err != nil {
			if id, err = s.Resolve(ctx, text); err != nil {
				return ForgetAnswer{}, err
			}
		}
		if !slices.Contains(sel.IDs, id) {
			sel.IDs = append(sel.IDs, id)
		}
	}
	return s.plan(ctx, sel)
}

// check returns an error unless something is selected, with at most one time.
func (r *ForgetRequest) check() error {
	for _, text := range []*string{&r.Query, &r.When, &r.Person, &r.Place, &r.Device} {
		*text = strings.TrimSpace(*text)
	}
	times := countTrue(r.Last > 0, r.When != "", !r.Since.IsZero() || !r.Until.IsZero())
	ways := times + countTrue(len(r.IDs) > 0, r.Query != "", r.Person != "", r.Place != "", r.Device != "")
	switch {
	case r.Confirm != "" && (ways > 0 || r.Plan):
		return kindInvalid.problem("confirm", "confirm: no other field goes with it; the plan says what is erased")
	case r.Confirm != "":
		return nil
	case ways == 0:
		return kindInvalid.problem("", "want at least one of ids, query, last, when, since, until, person, place and device")
	case times > 1:
		return kindInvalid.problem("when", "when: a time is named twice: give one of last, when, and since with until")
	case !r.Plan:
		return kindInvalid.problem("plan", "plan: ask for the plan first, then confirm it")
	}
	return nil
}

// deleteAll erases every memory of an owner, in two steps like forgetting. The second
// step names the owner again, because a token alone could belong to another plan.
func (s *planner) deleteAll(ctx context.Context, q deleteQuery) (ForgetAnswer, error) {
	scope := memory.Owner{User: q.User, Agent: q.Agent, Run: q.Run}
	switch {
	case scope == (memory.Owner{}):
		return ForgetAnswer{}, kindInvalid.problem("user", "want at least one of user, agent and run, to say whose memories are erased")
	case q.Confirm == nil:
		return s.plan(ctx, ForgetSelection{Scope: &scope})
	case *q.Confirm == "":
		return ForgetAnswer{}, kindInvalid.problem("confirm", "confirm: empty")
	}
	return s.confirm(ctx, *q.Confirm, &scope)
}

func (s *planner) confirm(ctx context.Context, token string, scope *memory.Owner) (ForgetAnswer, error) {
	plan, ok := s.plans.pop(token, s.now(), scope)
	if !ok {
		return ForgetAnswer{}, kindPlan.problem("confirm", "ask for a plan again")
	}
	res, err := s.Forget(ctx, plan)
	return ForgetAnswer{Result: &res}, err
}

func (s *planner) plan(ctx context.Context, sel ForgetSelection) (ForgetAnswer, error) {
	plan, err := s.PlanForget(ctx, sel)
	if err != nil {
		return ForgetAnswer{}, err
	}
	plan.Scope = sel.Scope
	plan.Memories, plan.Utterances, plan.Trimmed = NonNil(plan.Memories), NonNil(plan.Utterances), NonNil(plan.Trimmed)
	held := s.plans.put(plan, s.now())
	return ForgetAnswer{Plan: &plan, Confirm: held.token, Expires: held.expires}, nil
}

// PlanTTL is how long a plan to forget can be confirmed. maxPlans is how many
// plans are stored; the oldest is dropped first.
const (
	PlanTTL  = 10 * time.Minute
	maxPlans = 16
)

// plans stores shown plans until they are confirmed.
type plans struct {
	mu   sync.Mutex
	list []heldPlan // oldest first
}

type heldPlan struct {
	token   string
	expires time.Time
	plan    ForgetPlan
}

func (p *plans) put(plan ForgetPlan, now time.Time) heldPlan {
	held := heldPlan{rand.Text(), now.Add(PlanTTL), plan}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.list) == maxPlans {
		p.list = p.list[1:]
	}
	p.list = append(p.list, held)
	return held
}

// pop removes and returns a plan. If the plan is for one owner's memories and another
// owner is named, the plan stays.
func (p *plans) pop(token string, now time.Time, scope *memory.Owner) (ForgetPlan, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, held := range p.list {
		if held.token == token {
			if (held.plan.Scope == nil) != (scope == nil) || scope != nil && *held.plan.Scope != *scope {
				return ForgetPlan{}, false
			}
			p.list = append(p.list[:i:i], p.list[i+1:]...)
			return held.plan, now.Before(held.expires)
		}
	}
	return ForgetPlan{}, false
}

// PlanForget returns a plan of what would be erased; the answer has the token to
// confirm it.
func (c *Client) PlanForget(ctx context.Context, r ForgetRequest) (ForgetAnswer, error) {
	r.Plan = true
	return call(ctx, c, forget, r)
}

// Forget erases what the plan with that token lists.
func (c *Client) Forget(ctx context.Context, token string) (ForgetAnswer, error) {
	return call(ctx, c, forget, ForgetRequest{Confirm: token})
}

// PlanDeleteAll returns what would be erased of an owner's memories: everything that is
// set must match, and an empty user means the wearer.
func (c *Client) PlanDeleteAll(ctx context.Context, s memory.Owner) (ForgetAnswer, error) {
	return call(ctx, c, deleteMemories, deleteQuery{User: s.User, Agent: s.Agent, Run: s.Run})
}

// DeleteAll erases what the plan with that token lists; the plan must be for the same
// owner.
func (c *Client) DeleteAll(ctx context.Context, s memory.Owner, token string) (ForgetAnswer, error) {
	return call(ctx, c, deleteMemories, deleteQuery{s.User, s.Agent, s.Run, &token})
}
