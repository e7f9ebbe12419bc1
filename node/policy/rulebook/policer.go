package rulebook

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/locket-dev/locket/internal/sorting"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/engine"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/opened"
	"github.com/locket-dev/locket/node/policy"
	"github.com/locket-dev/locket/node/serve"
)

// Engine is the part of engine.Engine that this package uses.
type Engine interface {
	View(ctx context.Context, fn func(*store.Tx) error) error
	Assert(ctx context.Context, by engine.Authority, make func(*store.Tx) ([]memory.Assertion, error)) ([]memory.Change, error)
}

// Config is what a Rulebook needs.
type Config struct {
	Engine  Engine
	Parties func(context.Context) ([]policy.Request, error) // returns the parties to whom the wearer gives something now
	Now     func() time.Time
	// WithdrawForbidden withdraws what is shared but is no longer allowed; nil: nothing is withdrawn.
	WithdrawForbidden func(context.Context)
}

// Rulebook is the policy part of an open node. Its methods are safe for concurrent use.
type Rulebook struct{ c Config }

// New makes a Rulebook.
func New(c Config) *Rulebook { return &Rulebook{c} }

// Policer implements serve.Policer.
type Policer struct{ of opened.Of[*Rulebook] }

// NewPolicer makes a Policer.
func NewPolicer(of opened.Of[*Rulebook]) Policer { return Policer{of} }

// Policy implements serve.Policer.
func (p Policer) Policy(ctx context.Context) (v serve.Policy, err error) {
	rb, release, err := p.of.Use()
	if err != nil {
		return v, err
	}
	defer release()
	return rb.current(ctx)
}

func (rb *Rulebook) current(ctx context.Context) (v serve.Policy, err error) {
	err = rb.c.Engine.View(ctx, func(tx *store.Tx) error {
		r, err := Read(tx)
		v = shown(&r)
		return err
	})
	return v, err
}

// shown returns rules in the form in which they are served.
func shown(r *Rules) serve.Policy {
	v := serve.Policy{Text: r.List[0].Text, Mine: r.Mine && strings.TrimSpace(r.List[0].Text) != strings.TrimSpace(policy.ByHand), Never: serve.NonNil(r.Never), Trouble: r.Trouble, Rules: []serve.PolicyRule{}}
	for i := range r.List {
		if i > 0 {
			v.Conflicts = append(v.Conflicts, r.List[i].Text)
		}
		for j := range r.List[i].Rules {
			rule := &r.List[i].Rules[j]
			v.Rules = append(v.Rules, serve.PolicyRule{Name: rule.Name(), Line: rule.Line, Forbids: rule.Forbid, Words: rule.Words()})
		}
	}
	return v
}

// SetPolicy implements serve.Policer.
func (p Policer) SetPolicy(ctx context.Context, r serve.NewPolicy) (v serve.Policy, err error) {
	rb, release, err := p.of.Use()
	if err != nil {
		return v, err
	}
	defer release()
	if strings.TrimSpace(r.Text) == "" {
		r.Text = policy.ByHand
	}
	if _, err := policy.Parse(r.Text); err != nil {
		return v, err
	}
	if err := rb.assertText(ctx, thePolicy, r.Text, r.Was); err != nil {
		return v, err
	}
	return rb.current(ctx)
}

// MaxNever is how many words a never list may have.
const MaxNever = 1000

// SetNever implements serve.Policer.
func (p Policer) SetNever(ctx context.Context, r serve.NeverList) (v serve.Policy, err error) {
	rb, release, err := p.of.Use()
	if err != nil {
		return v, err
	}
	defer release()
	words, err := checkNever(r.Words)
	if err != nil {
		return v, err
	}
	text := strings.Join(words, "\n")
	text = cmp.Or(text, "-") // a memory must have a text; this one has no letter, so it is not a word
	if err := rb.assertText(ctx, theNever, text, r.Was); err != nil {
		return v, err
	}
	return rb.current(ctx)
}

// checkNever returns the words of a never list without repetitions.
func checkNever(words []string) (out []string, err error) {
	for _, w := range words {
		w = strings.TrimSpace(w)
		switch {
		case memory.Normal(w) == "" || !strings.ContainsFunc(w, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }):
			return nil, fmt.Errorf("%w: never: %.40q has no letter or digit", memory.ErrInvalid, w)
		case len(w) > memory.MaxName || strings.ContainsAny(w, "\n\r"):
			return nil, fmt.Errorf("%w: never: %.40q: at most %d bytes in one line", memory.ErrInvalid, w, memory.MaxName)
		}
		out = append(out, w)
	}
	slices.Sort(out)
	if out = slices.Compact(out); len(out) > MaxNever || len(strings.Join(out, "\n")) > policy.MaxText {
		return nil, fmt.Errorf("%w: never: %d words, at most %d, of %d bytes together", memory.ErrInvalid, len(out), MaxNever, policy.MaxText)
	}
	return out, nil
}

// assertText stores a text as a statement of the wearer. If was is not nil and the present rules are
// others, it returns serve.ErrChanged.
func (rb *Rulebook) assertText(ctx context.Context, what, text string, was []string) error {
	_, err := rb.c.Engine.Assert(ctx, engine.PersonAuthority, func(tx *store.Tx) ([]memory.Assertion, error) {
		if err := checkUnchanged(tx, what, was); err != nil {
			return nil, err
		}
		m, id, err := find(tx, what)
		if err != nil {
			return nil, err
		}
		var as []memory.Assertion
		if m == nil {
			c := memory.Candidate{Type: memory.Semantic, Text: text, Tags: []string{what, memory.RulesTag}, Owner: memory.Owner{User: memory.WearerUser}, Confidence: 1,
				Sensitivity: memory.Private, Source: engine.Person, TrueFrom: rb.c.Now()}
			if err := c.Validate(); err != nil {
				return nil, err
			}
			as = append(as, memory.Assertion{Memory: id, Act: memory.ActPropose, Candidate: &c})
		}
		// This is also done for a new memory: if two devices propose one independently, both texts
		// are kept.
		return append(as, memory.Assertion{Memory: id, Act: memory.ActCorrect, Patch: &memory.Patch{Text: &text}}, memory.Assertion{Memory: id, Act: memory.ActPin}), nil
	})
	if err == nil && rb.c.WithdrawForbidden != nil {
		rb.c.WithdrawForbidden(context.WithoutCancel(ctx))
	}
	return err
}

// checkUnchanged returns serve.ErrChanged if the policy or the words are not what they were.
func checkUnchanged(tx *store.Tx, what string, was []string) error {
	if was == nil {
		return nil
	}
	r, err := Read(tx)
	if err != nil {
		return err
	}
	v := shown(&r)
	now := v.Never
	if what == thePolicy {
		now = v.Texts()
	}
	if !slices.Equal(now, was) {
		return fmt.Errorf("%s: %w", what, serve.ErrChanged)
	}
	return nil
}

// PolicyTest implements serve.Policer.
func (p Policer) PolicyTest(ctx context.Context, r serve.PolicyTestRequest) (v serve.PolicyTested, err error) {
	rb, release, err := p.of.Use()
	if err != nil {
		return v, err
	}
	defer release()
	kind, name, err := policy.ParseWho(r.As)
	if err != nil {
		return v, fmt.Errorf("as: %w", err)
	}
	action, err := policy.ActionBy(kind, r.Action)
	if err != nil {
		return v, err
	}
	q := policy.Request{Action: action, Kind: kind, Name: name, Purpose: r.Purpose, Now: r.At}
	if q.Now.IsZero() {
		q.Now = rb.c.Now()
	}
	parties, err := rb.c.Parties(ctx)
	if err != nil {
		return v, err
	}
	if i := slices.IndexFunc(parties, func(p policy.Request) bool { return p.Kind == kind && p.Name == name }); i >= 0 {
		q.Key = parties[i].Key // the wearer's answers apply to the key of the party
	}
	var rules Rules
	if r.Text != "" {
		one, err := policy.Parse(r.Text)
		if err != nil {
			return v, err
		}
		rules.List = []policy.Policy{one}
	}
	err = rb.c.Engine.View(ctx, func(tx *store.Tx) error {
		if r.Text == "" {
			if rules, err = Read(tx); err != nil {
				return err
			}
		}
		v, err = try(&rules, q, active(tx))
		return err
	})
	return v, err
}

// try returns which memories would be permitted, and why others would not.
func try(rules *Rules, q policy.Request, memories iter.Seq2[*memory.Memory, error]) (v serve.PolicyTested, err error) {
	v.As, v.Action, v.Passes = q.Who(), string(q.Action), []serve.PolicyItem{}
	held := map[string]int{}
	for m, err := range memories {
		if err != nil {
			return v, err
		}
		it := policy.ItemOf(m)
		d := rules.Decide(&q, &it)
		if !d.Allow {
			held[d.Why()]++
			v.Held++
			continue
		}
		v.Passes = append(v.Passes, serve.PolicyItem{ID: m.ID, Type: m.Type, Text: m.Text, By: d.Why()})
	}
	for why, n := range held {
		v.Why = append(v.Why, serve.HeldBack{Why: why, Memories: n})
	}
	sorting.Sort(v.Why, func(a, b serve.HeldBack) int { return strings.Compare(a.Why, b.Why) })
	return v, nil
}

// active returns the memories that have to be decided about.
func active(tx *store.Tx) iter.Seq2[*memory.Memory, error] {
	return func(yield func(*memory.Memory, error) bool) {
		for m, err := range tx.Memories(store.Filter{States: []memory.State{memory.Active}}) {
			if err == nil && m.Negates {
				continue
			}
			if !yield(m, err) {
				return
			}
		}
	}
}

// PolicyDiff implements serve.Policer.
func (p Policer) PolicyDiff(ctx context.Context, text string) (v serve.PolicyDiff, err error) {
	rb, release, err := p.of.Use()
	if err != nil {
		return v, err
	}
	defer release()
	if strings.TrimSpace(text) == "" {
		text = policy.ByHand
	}
	next, err := policy.Parse(text)
	if err != nil {
		return v, err
	}
	parties, err := rb.c.Parties(ctx)
	if err != nil {
		return v, err
	}
	err = rb.c.Engine.View(ctx, func(tx *store.Tx) error {
		before, err := Read(tx)
		if err == nil {
			v, err = compare(before, next, parties, rb.c.Now(), active(tx))
		}
		return err
	})
	return v, err
}

// compare returns what another policy would newly allow and deny to parties.
func compare(before Rules, next policy.Policy, parties []policy.Request, now time.Time, memories iter.Seq2[*memory.Memory, error]) (v serve.PolicyDiff, err error) {
	after := Rules{List: []policy.Policy{next}, Mine: true}
	v.Policy, v.Changes = shown(&after), []serve.PolicyChange{}
	changes := make([]serve.PolicyChange, len(parties))
	for m, err := range memories {
		if err != nil {
			return v, err
		}
		it := policy.ItemOf(m)
		for i, q := range parties {
			q.Now = now
			was, is := before.Decide(&q, &it), after.Decide(&q, &it)
			c := &changes[i]
			c.As, c.Action = q.Who(), string(q.Action)
			shown := serve.PolicyItem{ID: m.ID, Type: m.Type, Text: m.Text, By: is.Why()}
			switch {
			case is.Allow && !was.Allow:
				c.Opens = append(c.Opens, shown)
			case was.Allow && !is.Allow:
				c.Closes = append(c.Closes, shown)
			}
		}
	}
	for _, c := range changes {
		if len(c.Opens)+len(c.Closes) > 0 {
			v.Changes = append(v.Changes, c)
		}
	}
	return v, nil
}
