package serve

import (
	"crypto/rand"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
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

// take gives a plan once.
func (p *plans) take(token string, now time.Time) (ForgetPlan, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, held := range p.list {
		if held.token == token {
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
		plan, ok := h.plans.take(req.Confirm, h.now())
		if !ok {
			return nil, kindPlan.problem("confirm", "ask for a plan again")
		}
		res, err := h.Service.Forget(r.Context(), plan)
		return ForgetAnswer{Result: &res}, err
	}
	plan, err := h.Service.PlanForget(r.Context(), sel)
	if err != nil {
		return nil, err
	}
	plan.Memories, plan.Utterances = notNil(plan.Memories), notNil(plan.Utterances)
	held := h.plans.put(plan, h.now())
	return ForgetAnswer{Plan: &plan, Confirm: held.token, Expires: held.expires}, nil
}

// selection checks that exactly one thing is asked for.
func (h *handler) selection(r *http.Request, req *ForgetRequest) (ForgetSelection, error) {
	sel := ForgetSelection{Last: req.Last, Query: strings.TrimSpace(req.Query)}
	ways := 0
	for _, set := range []bool{req.Last > 0, len(req.IDs) > 0, sel.Query != ""} {
		if set {
			ways++
		}
	}
	if req.Confirm != "" {
		if ways > 0 || req.Plan {
			return sel, kindInvalid.problem("confirm", "confirm: stands alone; what it takes is in the plan")
		}
		return sel, nil
	}
	if ways != 1 {
		return sel, kindInvalid.problem("", "want one of last, ids and query")
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
