package community

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/serve"
	"github.com/locket-dev/locket/node/share"
)

// Limits of what a node answers by itself.
const (
	MaxAnswer  = 3                  // copies for one question
	MaxADay    = 20                 // questions of one member that the node looks at within a day
	MaxATick   = 20                 // questions looked at each time that a community is maintained
	answerable = 7 * 24 * time.Hour // maximum age of a question
)

// looks is what a home stores about the questions of one member. It is kept when the
// questions are withdrawn, so that withdrawing them does not allow more questions.
type looks struct {
	Since time.Time   `json:"since"` // when the day began
	Count int         `json:"count"` // how many questions were looked at on that day
	Of    []memory.ID `json:"of"`    // questions that were looked at and are open
	Waits []memory.ID `json:"waits"` // of these, those that the node looks at again, because the wearer has not decided
}

func looksMeta(of memory.MemberID) string { return fmt.Sprintf("%s/looks/%s", keptMeta, of) }

// more counts a look, if another one is allowed.
func (l *looks) more(now time.Time) bool {
	if day := now.Sub(l.Since); day < 0 || day >= 24*time.Hour {
		l.Since, l.Count = now, 0
	}
	if l.Count >= MaxADay {
		return false
	}
	l.Count++
	return true
}

// note records a look. open are the questions that exist and are not too old: nothing need
// be stored about others.
func (l *looks) note(q memory.ID, waits bool, open map[memory.ID]bool) {
	past := func(id memory.ID) bool { return id == q || !open[id] }
	l.Of = append(slices.DeleteFunc(l.Of, past), q)
	if l.Waits = slices.DeleteFunc(l.Waits, past); waits {
		l.Waits = append(l.Waits, q)
	}
}

// Answers sets what this node uses to answer questions; nil: nothing.
func (c *Communities) Answers(ctx context.Context, id string, w *share.ShareSpec) (v serve.CommunityHead, err error) {
	err = c.at(ctx, id, func(sp *space) error {
		sp.record.Answers = nil
		if w != nil {
			if err := errors.Join(w.Criteria.Check(), w.ForCommunity()); err != nil {
				return err
			}
			if w.Criteria.Query != "" {
				return fmt.Errorf("%w: query: each question takes its place; give types or tags instead", memory.ErrInvalid)
			}
			sp.record.Answers = &choice{w.Criteria, w.Redact, w.Purpose}
		}
		if err := sp.save(ctx); err != nil {
			return err
		}
		seen, _, err := sp.see(ctx)
		v = seen.CommunityHead
		return err
	})
	return v, err
}

// answer looks at new questions of others, and then at those about which the wearer was
// asked.
func (sp *space) answer(ctx context.Context, g Giver, v *serve.CommunityView) (err error) {
	if sp.record.Answers == nil {
		return nil
	}
	now, open, by := sp.c.now(), map[memory.ID]bool{}, map[memory.MemberID]*looks{}
	var fresh, waiting []*serve.CommunityQuestion
	for i := range v.Questions {
		q := &v.Questions[i]
		if age := now.Sub(q.At); q.You || age > answerable || age < -24*time.Hour {
			continue
		}
		open[q.ID] = true
		l := by[authorOf(q.ID)]
		if l == nil {
			l = new(looks)
			by[authorOf(q.ID)] = l
			err := sp.store.View(ctx, func(tx *store.Tx) error { _, err := tx.Meta(looksMeta(authorOf(q.ID)), l); return err })
			if err != nil {
				return err
			}
		}
		switch {
		case slices.Contains(l.Waits, q.ID):
			waiting = append(waiting, q)
		case !slices.Contains(l.Of, q.ID):
			fresh = append(fresh, q)
		}
	}
	rand.Shuffle(len(waiting), func(i, j int) { waiting[i], waiting[j] = waiting[j], waiting[i] }) // so that each gets its turn
	left := MaxATick
	for i, q := range slices.Concat(fresh, waiting) {
		l := by[authorOf(q.ID)]
		if left > 0 && (i >= len(fresh) || l.more(now)) {
			left--
			err = errors.Join(err, sp.look(ctx, g, q, l, open))
		}
	}
	return err
}

// look answers one question, if there is an answer.
func (sp *space) look(ctx context.Context, g Giver, q *serve.CommunityQuestion, l *looks, open map[memory.ID]bool) error {
	w := *sp.record.Answers
	w.Criteria.Query, w.Criteria.Limit = q.Text, MaxAnswer
	p, err := sp.offer(ctx, g, w, q.ID, nil, false)
	if errors.Is(err, share.ErrNothing) {
		err = nil
	}
	// It is recorded first: after a crash a question stays without an answer, but nobody is
	// asked twice.
	l.note(q.ID, err != nil || p.Waits > 0, open)
	kept := sp.store.Update(ctx, func(tx *store.Tx) error { return tx.PutMeta(looksMeta(authorOf(q.ID)), l) })
	if err := errors.Join(err, kept); err != nil {
		return err
	}
	room := MaxAnswer
	for i := range q.Answers {
		if q.Answers[i].You {
			room--
		}
	}
	return sp.addGift(ctx, g, w, q.ID, p.Copies, room)
}
