// Package rulebook stores the wearer's policy as a memory that a person said and
// pinned, which syncs, has a history, and is sealed like any other. It tests a
// policy, and reports what a change of it would newly allow and deny.
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

// lives is how often a policy may be erased and set again.
const lives = 1000

// What is stored: the policy, and the words that are never shared.
const (
	thePolicy = "policy"
	theNever  = "never list"
)

// idOf returns the id of the memory that holds one of them. An erasure is for good,
// so a policy that was erased is followed by one with another id.
func idOf(what string, life int) memory.ID {
	sum := sha256.Sum256(fmt.Appendf(nil, "locket %s %d", what, life))
	return memory.ID(sum[:16])
}

// Rules are the rules that are in effect.
type Rules struct {
	List    []policy.Policy // more than one: devices set them without knowing of each other
	Answers []policy.Answer // the wearer's answers on this device to rules that ask
	Mine    bool            // the wearer set them; otherwise they are [policy.ByHand]
	Never   []string        // words that are never shared
	Trouble string          // why a policy can't be parsed, which denies everything; empty: it can be parsed
}

// Decide is [policy.Decide].
func (r *Rules) Decide(q *policy.Request, it *policy.Item) policy.Decision {
	return policy.Decide(r.List, r.Answers, q, it)
}

// Asks reports whether any rule asks the wearer.
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

// ByHand returns the rules of a wearer who has set none.
func ByHand() Rules { return Rules{List: []policy.Policy{byHand}} }

// Read returns the rules. If they can't be parsed, they deny everything.
func Read(tx *store.Tx) (Rules, error) { return new(Last).Read(tx) }

// Last reads the rules, and caches the parsed ones until the wearer changes them. It
// may be used concurrently, and its results must not be changed.
type Last struct {
	mu           sync.Mutex
	texts, never []string // from which the rules were made
	rules        *Rules
}

// Read is the function Read.
func (l *Last) Read(tx *store.Tx) (Rules, error) {
	texts, err := statedTexts(tx, thePolicy)
	if err != nil {
		return Rules{}, err
	}
	never, err := statedTexts(tx, theNever)
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

// rulesOf parses the wearer's texts.
func rulesOf(texts, never []string) Rules {
	r := ByHand()
	if len(texts) > 0 {
		r = Rules{Mine: true}
	}
	for _, list := range never { // the words of all lists that devices set independently
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

// statedTexts returns the wearer's last text, and the texts that devices set independently
// of it. A statement by a device or worker does not count.
func statedTexts(tx *store.Tx, what string) ([]string, error) {
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

// find returns the memory, or the id that the next one has to have.
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
