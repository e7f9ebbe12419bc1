// Package rulebook keeps the wearer's policy as the wearer's word: a memory that a
// person said and pinned, which syncs, has a history, and is sealed like any
// other. It tests a policy, and says what a change of it opens and closes.
package rulebook

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/policy"
	"github.com/locket-dev/locket/node/policy/consent"
)

// Tag is that of the memory which holds the policy.
const Tag = thePolicy

// lives is how often a policy may be erased, and set anew.
const lives = 1000

// What is kept: the policy, and the words that go into no share.
const (
	thePolicy = "policy"
	theNever  = "never list"
)

// idOf names the memory that holds one of them. An erasure is for good, so that
// a policy which was erased is followed by one of another name.
func idOf(what string, life int) memory.ID {
	sum := sha256.Sum256(fmt.Appendf(nil, "locket %s %d", what, life))
	return memory.ID(sum[:16])
}

// Rules are what decides now.
type Rules struct {
	List    []policy.Policy // more than one: devices set them without knowing of each other
	Answers []policy.Answer // what the wearer said on this device to rules that ask
	Mine    bool            // the wearer set them; else they are [policy.ByHand]
	Never   []string        // what goes into no share
	Trouble string          // why a policy can't be read, which denies everything; empty: it can
}

// Decide is [policy.Decide].
func (r *Rules) Decide(q *policy.Request, it *policy.Item) policy.Decision {
	return policy.Decide(r.List, r.Answers, q, it)
}

// Asks reports whether a rule asks the wearer.
func (r *Rules) Asks() bool {
	return slices.ContainsFunc(r.List, func(p policy.Policy) bool {
		return slices.ContainsFunc(p.Rules, func(one policy.Rule) bool { return one.Asks })
	})
}

var byHand = must(policy.Parse(policy.ByHand))

func must(p policy.Policy, err error) policy.Policy {
	if err != nil {
		panic(err)
	}
	return p
}

// ByHand are the rules of a wearer who has set none.
func ByHand() Rules { return Rules{List: []policy.Policy{byHand}} }

// Read gives the rules. What cannot be read denies everything.
func Read(tx *store.Tx) (Rules, error) { return new(Last).Read(tx) }

// Last reads rules that it keeps parsed until the wearer says others. It may be used
// concurrently, and what it gives is not to be changed.
type Last struct {
	mu           sync.Mutex
	texts, never []string // of which rules were made
	rules        *Rules
}

// Read is the function Read.
func (l *Last) Read(tx *store.Tx) (Rules, error) {
	texts, err := said(tx, thePolicy)
	if err != nil {
		return Rules{}, err
	}
	never, err := said(tx, theNever)
	if err != nil {
		return Rules{}, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.rules == nil || !slices.Equal(texts, l.texts) || !slices.Equal(never, l.never) {
		r := rulesOf(texts, never)
		l.texts, l.never, l.rules = texts, never, &r
	}
	r := *l.rules
	if r.Asks() {
		r.Answers, err = consent.Answers(tx)
	}
	return r, err
}

// rulesOf parses what the wearer said.
func rulesOf(texts, never []string) Rules {
	r := ByHand()
	if len(texts) > 0 {
		r = Rules{Mine: true}
	}
	for _, list := range never { // of lists that were set apart, all
		r.Never = append(r.Never, strings.Split(list, "\n")...)
	}
	r.Never = slices.DeleteFunc(r.Never, func(w string) bool { return memory.Normal(w) == "" })
	slices.Sort(r.Never)
	r.Never = slices.Compact(r.Never)
	for _, text := range texts {
		p, err := policy.Parse(text)
		if err != nil {
			p, r.Trouble = policy.Policy{Text: text}, err.Error()
		}
		r.List = append(r.List, p)
	}
	return r
}

// said gives what the wearer said last, and what devices said apart from it. A
// device's or worker's word is none.
func said(tx *store.Tx, what string) ([]string, error) {
	m, _, err := find(tx, what)
	if err != nil || m == nil || m.Rank != memory.RankPerson {
		return nil, err
	}
	texts := []string{m.Text}
	for _, v := range m.Conflict {
		if v.Field == "text" && v.Rank == memory.RankPerson {
			texts = append(texts, v.Value)
		}
	}
	return texts, nil
}

// find gives the memory, or the id that the next is to have.
func find(tx *store.Tx, what string) (*memory.Memory, memory.ID, error) {
	for life := range lives {
		id := idOf(what, life)
		m, err := tx.Memory(id)
		if errors.Is(err, memory.ErrNotFound) {
			return nil, id, nil
		}
		if err != nil {
			return nil, id, fmt.Errorf("policy: %w", err)
		}
		if m.State != memory.Erased {
			return m, id, nil
		}
	}
	return nil, memory.ID{}, fmt.Errorf("policy: it was erased %d times: %w", lives, memory.ErrDamaged)
}
