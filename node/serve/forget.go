package serve

import (
	"crypto/rand"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/locket-dev/locket/memory"
)

// PlanTTL is how long a plan to forget can be confirmed; maxPlans how many
// wait at a time, the oldest going first.
const (
	PlanTTL  = 10 * time.Minute
	maxPlans = 16
)

// plans keeps what was shown until it is confirmed.
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

// take gives a plan once. One of an owner's memories is given for that owner
// only; asked for another's, it stays.
func (p *plans) take(token string, now time.Time, scope *memory.Owner) (ForgetPlan, bool) {
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

func (h *handler) forget(r *http.Request) (any, error) {
	var req ForgetRequest
	if err := decodeBody(r, &req, false); err != nil {
		return nil, err
	}
	sel, err := h.selection(r, &req)
	if err != nil {
		return nil, err
	}
	if req.Confirm != "" {
		return h.confirm(r, req.Confirm, nil)
	}
	return h.plan(r, sel)
}

// deleteAll takes every memory of an owner, in two steps as forget does. The
// second names the owner again: a token alone could be of another plan.
func (h *handler) deleteAll(r *http.Request) (any, error) {
	q := r.URL.Query()
	scope := memory.Owner{User: q.Get("user"), Agent: q.Get("agent"), Run: q.Get("run")}
	if scope == (memory.Owner{}) {
		return nil, kindInvalid.problem("user", "want at least one of user, agent and run: whose memories")
	}
	if token := q.Get("confirm"); token != "" {
		return h.confirm(r, token, &scope)
	}
	if q.Has("confirm") {
		return nil, kindInvalid.problem("confirm", "confirm: empty")
	}
	return h.plan(r, ForgetSelection{Scope: &scope})
}

func (h *handler) confirm(r *http.Request, token string, scope *memory.Owner) (any, error) {
	plan, ok := h.plans.take(token, h.now(), scope)
	if !ok {
		return nil, kindPlan.problem("confirm", "ask for a plan again")
	}
	res, err := h.Service.Forget(r.Context(), plan)
	if err != nil {
		return nil, err
	}
	return ForgetAnswer{Result: &res}, nil
}

func (h *handler) plan(r *http.Request, sel ForgetSelection) (any, error) {
	plan, err := h.Service.PlanForget(r.Context(), sel)
	if err != nil {
		return nil, err
	}
	plan.Scope = sel.Scope
	plan.Memories, plan.Utterances, plan.Trimmed = notNil(plan.Memories), notNil(plan.Utterances), notNil(plan.Trimmed)
	held := h.plans.put(plan, h.now())
	return ForgetAnswer{Plan: &plan, Confirm: held.token, Expires: held.expires}, nil
}

// selection checks that something is asked for, and one time at most.
func (h *handler) selection(r *http.Request, req *ForgetRequest) (ForgetSelection, error) {
	sel := ForgetSelection{Query: strings.TrimSpace(req.Query), Last: req.Last, When: strings.TrimSpace(req.When), Since: req.Since, Until: req.Until,
		Person: strings.TrimSpace(req.Person), Place: strings.TrimSpace(req.Place), Device: strings.TrimSpace(req.Device)}
	count := func(set ...bool) (n int) {
		for _, s := range set {
			if s {
				n++
			}
		}
		return n
	}
	times := count(req.Last > 0, sel.When != "", !sel.Since.IsZero() || !sel.Until.IsZero())
	ways := times + count(len(req.IDs) > 0, sel.Query != "", sel.Person != "", sel.Place != "", sel.Device != "")
	if req.Confirm != "" {
		if ways > 0 || req.Plan {
			return sel, kindInvalid.problem("confirm", "confirm: stands alone; what it takes is in the plan")
		}
		return sel, nil
	}
	if ways == 0 {
		return sel, kindInvalid.problem("", "want at least one of ids, query, last, when, since, until, person, place and device")
	}
	if times > 1 {
		return sel, kindInvalid.problem("when", "when: a time is named twice: give one of last, when, and since with until")
	}
	if !req.Plan {
		return sel, kindInvalid.problem("plan", "plan: ask for the plan first, then confirm it")
	}
	for _, text := range req.IDs {
		id, err := h.Service.Resolve(r.Context(), text)
		if err != nil {
			return sel, err
		}
		if !slices.Contains(sel.IDs, id) {
			sel.IDs = append(sel.IDs, id)
		}
	}
	return sel, nil
}
