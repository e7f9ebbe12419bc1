package servetest

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/policy"
	"github.com/locket-dev/locket/node/policy/rulebook"
	"github.com/locket-dev/locket/node/serve"
)

var _ serve.Policer = (*Node)(nil)

// rules are read under the lock.
func (n *Node) rules() (rulebook.Rules, error) {
	if n.s.Policy == "" {
		r := rulebook.ByHand()
		r.Never = n.s.Never
		return r, nil
	}
	p, err := policy.Parse(n.s.Policy)
	return rulebook.Rules{List: []policy.Policy{p}, Mine: true, Never: n.s.Never}, err
}

func (n *Node) active() iter.Seq2[*memory.Memory, error] {
	return func(yield func(*memory.Memory, error) bool) {
		for i := range n.s.Memories {
			if m := &n.s.Memories[i]; m.State == memory.Active && !yield(m, nil) {
				return
			}
		}
	}
}

// Policy implements serve.Policer.
func (n *Node) Policy(ctx context.Context) (v serve.Policy, err error) {
	done, err := n.open(ctx)
	if err != nil {
		return v, err
	}
	defer done()
	r, err := n.rules()
	if err != nil {
		return v, err
	}
	return rulebook.Shown(&r), nil
}

// SetPolicy implements serve.Policer.
func (n *Node) SetPolicy(ctx context.Context, text string) (v serve.Policy, err error) {
	if _, err := policy.Parse(text); err != nil {
		return v, err
	}
	done, err := n.open(ctx)
	if err != nil {
		return v, err
	}
	n.s.Policy = text
	done()
	return n.Policy(ctx)
}

// SetNever implements serve.Policer.
func (n *Node) SetNever(ctx context.Context, words []string) (v serve.Policy, err error) {
	if words, err = rulebook.CheckNever(words); err != nil {
		return v, err
	}
	done, err := n.open(ctx)
	if err != nil {
		return v, err
	}
	n.s.Never = words
	done()
	return n.Policy(ctx)
}

// PolicyTest implements serve.Policer.
func (n *Node) PolicyTest(ctx context.Context, r serve.PolicyTestRequest) (v serve.PolicyTested, err error) {
	kind, name, err := policy.ParseWho(r.As)
	if err != nil {
		return v, fmt.Errorf("as: %w", err)
	}
	done, err := n.open(ctx)
	if err != nil {
		return v, err
	}
	defer done()
	rules, err := n.rules()
	if err != nil {
		return v, err
	}
	if r.Text != "" {
		p, err := policy.Parse(r.Text)
		if err != nil {
			return v, err
		}
		rules.List = []policy.Policy{p}
	}
	at := r.At
	if at.IsZero() {
		at = time.Now()
	}
	return rulebook.Try(&rules, policy.Request{Action: policy.ActionOf(kind), Kind: kind, Name: name, Purpose: r.Purpose, Now: at}, n.active())
}

// PolicyDiff implements serve.Policer: this node gives nobody anything.
func (n *Node) PolicyDiff(ctx context.Context, text string) (v serve.PolicyDiff, err error) {
	next, err := policy.Parse(text)
	if err != nil {
		return v, err
	}
	done, err := n.open(ctx)
	if err != nil {
		return v, err
	}
	defer done()
	before, err := n.rules()
	if err != nil {
		return v, err
	}
	return rulebook.Compare(before, next, nil, time.Now(), n.active())
}
