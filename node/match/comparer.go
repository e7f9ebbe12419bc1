package match

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/opened"
	"github.com/locket-dev/locket/node/serve"
)

// Comparer implements serve.Comparer over an open node. It is safe for concurrent use.
type Comparer struct {
	of       opened.Of[*Matcher]
	memories memories
	in       communities
}

type memories interface {
	List(ctx context.Context, q serve.ListQuery) (serve.ListPage, error)
}

type communities interface {
	Communities(ctx context.Context) ([]serve.CommunityHead, error)
}

// mostProposed is how many interests are proposed at most, not counting communities.
const mostProposed = 200

// NewComparer makes a Comparer.
func NewComparer(of opened.Of[*Matcher], m memories, in communities) Comparer {
	return Comparer{of, m, in}
}

// refused marks errors of this package that the present state causes.
type refused struct{ error }

func (r refused) Unwrap() []error { return []error{r.error, serve.ErrConflict} }

func step[R any](c Comparer, f func(*Matcher) (R, error)) (R, error) {
	out, err := opened.Do(c.of, f)
	if errors.Is(err, ErrTooSoon) || errors.Is(err, ErrLied) || errors.Is(err, ErrEnded) {
		err = refused{err}
	}
	return out, err
}

// done returns the result of a step.
func done(c serve.Comparison, text string, err error) (serve.ComparisonStep, error) {
	if err != nil {
		return serve.ComparisonStep{}, err
	}
	return serve.ComparisonStep{Comparison: &c, Message: text}, nil
}

// Interests implements serve.Comparer.
func (c Comparer) Interests(ctx context.Context) (serve.InterestsAnswer, error) {
	return step(c, func(m *Matcher) (out serve.InterestsAnswer, err error) {
		if out.Interests, err = m.Interests(ctx); err == nil {
			out.Comparisons, err = m.List(ctx)
		}
		return out, err
	})
}

// ChooseInterests implements serve.Comparer.
func (c Comparer) ChooseInterests(ctx context.Context, r serve.ChooseInterests) (serve.InterestList, error) {
	return step(c, func(m *Matcher) (serve.InterestList, error) {
		list, err := m.Choose(ctx, r.Add, r.Remove)
		return serve.InterestList{Interests: list}, err
	})
}

// ProposeInterests implements serve.Comparer. It looks only at what anybody whom the
// wearer trusts may know.
func (c Comparer) ProposeInterests(ctx context.Context) (out serve.InterestList, err error) {
	have, err := c.Interests(ctx)
	if err != nil {
		return out, err
	}
	seen := map[string]bool{"": true}
	for _, h := range have.Interests {
		seen[normal(h)] = true
	}
	add := func(s string) {
		if s, err := interest(s); err == nil && len(s) <= 60 && !seen[normal(s)] {
			seen[normal(s)] = true
			out.Interests = append(out.Interests, s)
		}
	}
	for q := (serve.ListQuery{State: memory.Active, Limit: 500}); ; {
		page, err := c.memories.List(ctx, q)
		if err != nil {
			return out, err
		}
		for _, m := range page.Memories {
			for _, s := range likes(&m) {
				add(s)
			}
		}
		if q.Cursor = page.Next; q.Cursor == "" || len(out.Interests) >= mostProposed {
			break
		}
	}
	list, err := c.in.Communities(ctx)
	for _, v := range list {
		add(v.Name)
	}
	return out, err
}

// likes returns the interests that a memory suggests.
func likes(m *memory.Memory) (out []string) {
	if m.Type == memory.Vault || m.Sensitivity > memory.Personal {
		return nil
	}
	if s := m.Slot; s != nil && s.Subject == "user" && s.Value != "" {
		attribute, _, _ := strings.Cut(s.Attribute, ":")
		if attribute == "likes" || attribute == "learning" || strings.HasPrefix(attribute, "favourite") {
			out = append(out, s.Value)
		}
	}
	if slices.Contains([]string{"", "person", "api", "import"}, m.Source.Plugin) { // the tags of a plugin say what kind of memory it is
		out = append(out, m.Tags...)
	}
	return out
}

// AskInterests implements serve.Comparer.
func (c Comparer) AskInterests(ctx context.Context, r serve.AskInterests) (serve.ComparisonStep, error) {
	return step(c, func(m *Matcher) (serve.ComparisonStep, error) {
		name := strings.TrimSpace(r.Name)
		if name == "" {
			return serve.ComparisonStep{}, fmt.Errorf("%w: name: give the name that you use for them", memory.ErrInvalid)
		}
		return done(m.Ask(ctx, name, strings.Join(strings.Fields(r.Key), "")))
	})
}

// OpenInterests implements serve.Comparer.
func (c Comparer) OpenInterests(ctx context.Context, r serve.OpenInterests) (serve.ComparisonStep, error) {
	return step(c, func(m *Matcher) (serve.ComparisonStep, error) {
		if !r.Yes {
			if asked, err := m.Look(ctx, r.Message); err != nil || asked != nil {
				return serve.ComparisonStep{Asked: asked}, err
			}
		}
		return done(m.Open(ctx, r.Message, strings.TrimSpace(r.Name)))
	})
}

// TellInterests implements serve.Comparer.
func (c Comparer) TellInterests(ctx context.Context, id string) (serve.ComparisonStep, error) {
	return step(c, func(m *Matcher) (serve.ComparisonStep, error) { return done(m.TellCommon(ctx, id)) })
}

// InterestsAgain implements serve.Comparer.
func (c Comparer) InterestsAgain(ctx context.Context, id string) (serve.ComparisonStep, error) {
	return step(c, func(m *Matcher) (serve.ComparisonStep, error) { return done(m.RepeatMessage(ctx, id)) })
}

// ForgetInterests implements serve.Comparer.
func (c Comparer) ForgetInterests(ctx context.Context, id string) error {
	_, err := step(c, func(m *Matcher) (struct{}, error) { return struct{}{}, m.Forget(ctx, id) })
	return err
}
