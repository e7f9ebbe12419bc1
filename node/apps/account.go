package apps

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/serve"
)

// The log of an app has a numbered entry for each thing that the app did, and a head.
// The tokens of a day limit how many memories an app can be shown, and so how long its
// log gets. A call that showed and wrote nothing gets an entry only if it is among the
// first of the day. Otherwise an app could fill the disk with empty calls.
const (
	keptFor    = 90 * 24 * time.Hour
	quietLines = 500 // a day
	dropAtOnce = 8   // old entries dropped with each new one

	clearedAtOnce = 500 // entries of a dropped log that are removed in one transaction
)

// head is the state of a log.
type head struct {
	First uint64       `json:"first"` // the oldest entry that is kept
	Next  uint64       `json:"next"`
	Day   time.Time    `json:"day"` // the midnight, in UTC, from which Quiet and Today are counted
	Quiet int          `json:"quiet"`
	Today serve.AppDay `json:"today"`
	Used  time.Time    `json:"used"`
}

func headName(app string) string { return "app/" + app }

func lineName(app string, n uint64) string { return "app/" + app + "/" + strconv.FormatUint(n, 10) }

func headOf(tx *store.Tx, app string) (h head, err error) {
	_, err = tx.Meta(headName(app), &h)
	return h, err
}

// of returns the head at a time: on a new day its counts start again.
func (h head) of(now time.Time) head {
	if day := now.UTC().Truncate(24 * time.Hour); !h.Day.Equal(day) {
		h.Day, h.Quiet, h.Today = day, 0, serve.AppDay{}
	}
	return h
}

// note adds an entry to an app's log, and takes its tokens from those of the day. If
// too few are left, the error is serve.ErrLimit. Nothing may be shown before it
// returns.
func (b *Book) note(ctx context.Context, v *visit, u serve.AppUse) error {
	return b.noteAnswer(ctx, v, u, 0)
}

// noteAnswer is note for what a language model has answered. The tokens of the answer
// are taken even if too few are left: the model was paid, and an app that is refused
// the answer would ask again.
func (b *Book) noteAnswer(ctx context.Context, v *visit, u serve.AppUse, answer int) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	u.At = b.now().UTC()
	if len(v.via) > 0 {
		u.Via = v.via[len(v.via)-1]
	}
	l := &line{app: v.Name(), most: v.app.Tokens, use: u, answer: answer}
	err := b.lines.note(ctx, b.store, l)
	if errors.Is(err, serve.ErrLimit) && u.Tokens <= v.app.Tokens {
		err = serve.WithRetryAfter(u.At.Truncate(24*time.Hour).Add(24*time.Hour).Sub(u.At), err) // the day's tokens are counted from midnight
	}
	return err
}

// line is an entry to be added to an app's log.
type line struct {
	app    string
	most   int // tokens that the app may be given in a day
	use    serve.AppUse
	answer int // of the tokens, those of a model's answer

	done bool // err is the outcome; guarded by lines.committing
	err  error
}

// lines adds simultaneous entries together, because waiting for the disk takes as long
// for many as for one. Callers that arrive during a transaction wait for it, and the
// first of them then commits for all of them.
type lines struct {
	mu      sync.Mutex
	waiting []*line // guarded by mu

	committing sync.Mutex // held during a transaction
}

// mostLines is how many entries are added in one transaction.
const mostLines = 64

// note returns once an entry is on disk, or with the reason why it will not be.
func (ls *lines) note(ctx context.Context, s Store, l *line) error {
	ls.mu.Lock()
	ls.waiting = append(ls.waiting, l)
	ls.mu.Unlock()
	ls.committing.Lock()
	defer ls.committing.Unlock()
	for !l.done {
		ls.mu.Lock()
		now := ls.waiting[:min(len(ls.waiting), mostLines)]
		ls.waiting = slices.Clone(ls.waiting[len(now):])
		ls.mu.Unlock()
		// A caller that hangs up must not take the entries of others with it.
		err := s.Update(context.WithoutCancel(ctx), func(tx *store.Tx) error {
			for _, l := range now {
				if l.err = l.put(tx); l.err != nil && !errors.Is(l.err, serve.ErrLimit) {
					return l.err
				}
			}
			return nil
		})
		for _, l := range now {
			l.done = true
			if err != nil {
				l.err = err
			}
		}
	}
	return l.err
}

// put writes the entry. With serve.ErrLimit nothing was written.
func (l *line) put(tx *store.Tx) error {
	h, err := headOf(tx, l.app)
	if err != nil {
		return err
	}
	u := &l.use
	h = h.of(u.At)
	// A request that returns no memories is never refused: a write has already happened
	// when it is logged.
	if given := u.Tokens - l.answer; given > 0 && h.Today.Tokens+given > l.most {
		return fmt.Errorf("%w: this answer has %d tokens, and %d of the %d of today are left", serve.ErrLimit, u.Tokens, max(l.most-h.Today.Tokens, 0), l.most)
	}
	h.Today.Tokens += u.Tokens
	if u.Refused != "" {
		h.Today.Refused++
	}
	kept := true
	if len(u.Shown)+len(u.Wrote) == 0 {
		h.Quiet++
		if kept = h.Quiet <= quietLines; !kept {
			h.Today.Unnoted++
		}
	} else {
		h.Used = u.At
	}
	if kept {
		if err := tx.PutMeta(lineName(l.app, h.Next), u); err != nil {
			return err
		}
		h.Next++
	}
	if err := h.drop(tx, l.app, u.At); err != nil {
		return err
	}
	return tx.PutMeta(headName(l.app), &h)
}

// left returns how many tokens an app has left for the day.
func (b *Book) left(ctx context.Context, v *visit) (n int, err error) {
	err = b.store.View(ctx, func(tx *store.Tx) error {
		h, err := headOf(tx, v.Name())
		n = v.app.Tokens - h.of(b.now()).Today.Tokens
		return err
	})
	return n, err
}

// drop removes entries that are old enough.
func (h *head) drop(tx *store.Tx, app string, now time.Time) error {
	for range dropAtOnce {
		var old serve.AppUse
		ok, err := tx.Meta(lineName(app, h.First), &old)
		if err != nil || h.First == h.Next || ok && now.Sub(old.At) < keptFor {
			return err
		}
		if err := tx.DeleteMeta(lineName(app, h.First)); err != nil {
			return err
		}
		h.First++
	}
	return nil
}

// clearOut drops the apps whose keys ended first, with their logs, if there are too
// many; it never drops the one that is named.
func (b *Book) clearOut(ctx context.Context, but string) error {
	for {
		var old string
		var h head
		err := b.store.Update(ctx, func(tx *store.Tx) error {
			list, err := records(tx)
			if err != nil {
				return err
			}
			over, first := 0, -1
			for i := range list {
				if list[i].over(b.now()) {
					over++
					if first < 0 && list[i].App.Name != but {
						first = i
					}
				}
			}
			if over < maxOver || first < 0 {
				return nil
			}
			old = list[first].App.Name
			if h, err = headOf(tx, old); err != nil {
				return err
			}
			for range clearedAtOnce {
				if h.First == h.Next {
					break
				}
				if err := tx.DeleteMeta(lineName(old, h.First)); err != nil {
					return err
				}
				h.First++
			}
			if h.First < h.Next {
				return tx.PutMeta(headName(old), &h)
			}
			if err := tx.DeleteMeta(headName(old)); err != nil {
				return err
			}
			return tx.PutMeta(listMeta, slices.Delete(list, first, first+1))
		})
		if err != nil || old == "" {
			return err
		}
	}
}

// AppLog implements serve.Apps.
func (b *Book) AppLog(ctx context.Context, name string, limit int) (out serve.AppLog, err error) {
	err = b.store.View(ctx, func(tx *store.Tx) error {
		list, err := records(tx)
		if err != nil {
			return err
		}
		for i := range list {
			if list[i].App.Name == name {
				out.App = list[i].App
			}
		}
		if out.App.Name == "" {
			return fmt.Errorf("app %.40q: %w", name, memory.ErrNotFound)
		}
		h, err := headOf(tx, name)
		if err != nil {
			return err
		}
		out.App.Used, out.Today = h.Used, h.of(b.now()).Today
		for n := h.Next; n > h.First && len(out.Entries) < limit; n-- {
			var u serve.AppUse
			ok, err := tx.Meta(lineName(name, n-1), &u)
			if err != nil {
				return err
			}
			if ok {
				out.Entries = append(out.Entries, u)
			}
		}
		return nil
	})
	return out, err
}

// reasonOf returns why something was refused, without the sentinel's text.
func reasonOf(err error) string {
	return strings.TrimPrefix(err.Error(), serve.ErrForbidden.Error()+": ")
}
