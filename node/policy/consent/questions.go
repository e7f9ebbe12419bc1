// Package consent stores what a rule of the policy asks the wearer: what somebody would
// be shown, and what the wearer answered. A question is about one party, one rule and
// one way of redaction. Without an answer it denies; an answer expires. Questions are
// stored sealed on this device, with ids and no texts, so that no question contains
// what was forgotten.
package consent

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/policy"
	"github.com/locket-dev/locket/node/serve"
)

// Limits of what is stored. The questions of one party are limited to a share, so that
// the wearer also sees what others ask. Beyond the limit a request is denied, and asked
// about when it is tried again after an answer.
const (
	maxQuestions = 200
	maxTheirs    = 20                  // questions of one party
	maxWaits     = 200                 // memories that wait in questions of one party
	waitsFor     = 7 * 24 * time.Hour  // how long a question waits if it is not asked again
	refusedFor   = 30 * 24 * time.Hour // how long a refusal is valid unless the wearer says otherwise
	onceFor      = 24 * time.Hour      // how long a consent to a rule that asks each time is valid
)

const meta = "consents"

// question is a question that was asked, with its answer.
type question struct {
	ID       string         `json:"id"`
	By       policy.Request `json:"by"`   // without Now
	Rule     string         `json:"rule"` // the rule's name
	Key      string         `json:"key"`  // the rule's Key
	For      time.Duration  `json:"for"`  // the rule's For
	Redacted []byte         `json:"redacted,omitempty"`
	Asked    int            `json:"asked"` // how often it was asked
	First    time.Time      `json:"first"`
	Last     time.Time      `json:"last"`
	Of       []memory.ID    `json:"of,omitempty"` // memories that wait for an answer

	// Goods describe ids that are not of memories: orders of an app.
	Goods map[memory.ID]string `json:"goods,omitempty"`
	More  bool                 `json:"more,omitempty"` // there are others, for which there was no room

	Allowed bool      `json:"allowed,omitempty"`
	Said    time.Time `json:"said,omitzero"` // when the wearer answered
	Until   time.Time `json:"until,omitzero"`
	All     bool      `json:"all,omitempty"` // everything that the rule applies to

	// Shown is what is allowed, as it was shown, unless All is set.
	Shown []serve.ConsentSeen `json:"shown,omitempty"`
}

// Held is a memory that waits for the wearer's consent.
type Held struct {
	By       policy.Request
	Rules    []*policy.Rule // the rules of the decision
	Memory   memory.ID
	Redacted []byte // how it is redacted when it is shown; nil: not at all
	Goods    string // what Memory stands for, if it is not a memory's id
}

func idOf(h *Held, r *policy.Rule) string {
	sum := sha256.New()
	for _, s := range []string{string(h.By.Kind), h.By.Name, h.By.Key, string(h.By.Action), h.By.Purpose, h.By.Form, r.Key()} {
		fmt.Fprintf(sum, "%d:%s", len(s), s)
	}
	return hex.EncodeToString(sum.Sum(nil)[:6])
}

// holds reports whether the answer is valid.
func (q *question) holds(now time.Time) bool { return now.Before(q.Until) }

// waits reports whether there is something to answer.
func (q *question) waits(now time.Time) bool {
	return len(q.Of) > 0 && now.Before(q.lapses())
}

// lapses returns when the question expires if it is not asked again.
func (q *question) lapses() time.Time {
	if q.By.Action == Reveal {
		return q.Last.Add(readingWaits)
	}
	return q.Last.Add(waitsFor)
}

func read(tx *store.Tx) (list []question, err error) {
	_, err = tx.Meta(meta, &list)
	return list, err
}

// save stores the questions that are still useful.
func save(tx *store.Tx, list []question, now time.Time) error {
	list = slices.DeleteFunc(list, func(q question) bool { return !q.holds(now) && !q.waits(now) })
	for i := range list {
		q := &list[i]
		maps.DeleteFunc(q.Goods, func(id memory.ID, _ string) bool { return !slices.Contains(q.Of, id) && at(q.Shown, id) < 0 })
	}
	return tx.PutMeta(meta, list)
}

// Answers returns the wearer's answers that were not withdrawn.
func Answers(tx *store.Tx) (out []policy.Answer, err error) {
	list, err := read(tx)
	for i := range list {
		q := &list[i]
		if q.Until.IsZero() || q.By.Action == Reveal { // no rule of a policy is about it
			continue
		}
		a := policy.Answer{Rule: q.Key, By: q.By, Allow: q.Allowed, Until: q.Until}
		if q.Allowed && !q.All {
			a.Of = map[memory.ID]string{}
			for _, s := range q.Shown {
				a.Of[s.ID] = s.Mark
			}
		}
		out = append(out, a)
	}
	return out, err
}

// ask adds what waits to the questions, and returns those that begin to wait. Without
// again, what waits already is not changed.
func ask(list []question, held []Held, again bool, now time.Time) (out []question, begun []question, changed bool) {
	counted := map[string]bool{}
	began := map[string]bool{}
	for i := range held {
		h := &held[i]
		for _, r := range h.Rules {
			id := idOf(h, r)
			i := slices.IndexFunc(list, func(q question) bool { return q.ID == id })
			theirs, waiting := waitingOf(list, &h.By, now)
			if i < 0 && (len(list) >= maxQuestions || theirs >= maxTheirs) || waiting >= maxWaits && (i < 0 || !list[i].waits(now)) {
				continue // it stays denied
			}
			if i < 0 {
				by := h.By
				by.Now = time.Time{}
				list = append(list, question{ID: id, By: by, Rule: r.Name(), Key: r.Key(), For: r.For, Redacted: h.Redacted, First: now})
				i = len(list) - 1
			}
			q := &list[i]
			if !q.waits(now) {
				q.Of, q.More, began[id] = nil, false, true
			}
			known, full := slices.Contains(q.Of, h.Memory), waiting >= maxWaits
			if !again && (known || full && q.More) {
				continue
			}
			if !counted[id] {
				counted[id], changed = true, true
				q.Asked++
				q.Last = now
			}
			switch {
			case known:
			case full:
				q.More = true
			default:
				q.Of = append(q.Of, h.Memory)
				if h.Goods != "" {
					if q.Goods == nil {
						q.Goods = map[memory.ID]string{}
					}
					q.Goods[h.Memory] = h.Goods
				}
			}
		}
	}
	for i := range list {
		if began[list[i].ID] {
			begun = append(begun, list[i])
		}
	}
	return list, begun, changed
}

// waitingOf returns how many questions of a party wait, and about how many memories.
func waitingOf(list []question, by *policy.Request, now time.Time) (questions, memories int) {
	for i := range list {
		if q := &list[i]; q.of(by) && q.waits(now) {
			questions, memories = questions+1, memories+len(q.Of)
		}
	}
	return questions, memories
}

func (q *question) of(by *policy.Request) bool {
	return q.By.Kind == by.Kind && q.By.Key == by.Key && q.By.Name == by.Name
}

// End drops the questions of somebody whose key has ended, with their answers.
func End(tx *store.Tx, by policy.Request, now time.Time) error {
	list, err := read(tx)
	if err != nil || len(list) == 0 {
		return err
	}
	return save(tx, slices.DeleteFunc(list, func(q question) bool { return q.of(&by) }), now)
}

// allow answers yes for memories, as they were shown, until a time. What was allowed
// before, and still is, gets the same end.
func (q *question) allow(of []serve.ConsentSeen, all bool, until, now time.Time) {
	shown := slices.Clone(of)
	if q.Allowed && q.holds(now) {
		all = all || q.All
		for _, s := range q.Shown {
			if at(of, s.ID) < 0 {
				shown = append(shown, s)
			}
		}
	}
	q.Of = slices.DeleteFunc(q.Of, func(id memory.ID) bool { return all || at(of, id) >= 0 })
	if q.More = q.More && len(q.Of) > 0; all {
		shown = nil
	}
	q.Allowed, q.All, q.Shown, q.Said, q.Until = true, all, shown[:min(len(shown), maxAnswered)], now, until
}

// at returns the index of a memory among those that were shown, or -1.
func at(of []serve.ConsentSeen, id memory.ID) int {
	return slices.IndexFunc(of, func(s serve.ConsentSeen) bool { return s.ID == id })
}

// maxAnswered is how many memories one answer covers.
const maxAnswered = 5 * maxWaits

// refuse answers no until a time.
func (q *question) refuse(until, now time.Time) {
	q.Allowed, q.All, q.Shown, q.Said, q.Until, q.Of, q.More = false, false, nil, now, until, nil, false
}

// Form returns the name of a way of redaction for a policy.Request.
func Form(redaction any) (form string, redacted []byte, err error) {
	b, err := json.Marshal(redaction)
	if err != nil {
		return "", nil, fmt.Errorf("consent: redaction: %w", err)
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:8]), b, nil
}
