package repair

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/memory/store/journal"
)

// events is what a journal still contains.
type events struct {
	waiting [][]byte // entries that were not processed, or may not have been
	after   uint64   // all entries up to this one were processed
	damage  []error
}

// readJournal reads the whole journal. If it ends before the cursor, it was
// truncated or replaced by an older copy. Entries that were appended since then
// have numbers that were used before, so all of them may be waiting.
func (v *visit) readJournal(ctx context.Context, cursor uint64) (ev events, err error) {
	dir := filepath.Join(v.Dir, "journal")
	if _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) && cursor == 0 {
		return ev, nil
	}
	id := v.ring.JournalIdentity()
	j, err := journal.Open(dir, id.Recipient(), journal.Options{Reserve: -1})
	if err != nil {
		return ev, err
	}
	ev.after = cursor
	last, newest := j.Stats().Last, uint64(j.Newest())
	if newest < cursor>>32 || newest == cursor>>32 && last < cursor {
		ev.after = 0
		ev.damage = append(ev.damage, fmt.Errorf("it ends before the entries that were processed: it was cut short, put back to an older state, or is gone"))
	}
	if err := j.Close(); err != nil { // so that the end of the file counts as the end
		return ev, err
	}
	r, err := j.Reader(id, 0)
	if err != nil {
		return ev, err
	}
	defer r.Close()
	for {
		e, err := r.Next(ctx)
		var damaged *journal.CorruptError
		switch {
		case errors.Is(err, journal.ErrClosed):
			return ev, nil
		case errors.As(err, &damaged):
			ev.damage = append(ev.damage, damaged)
		case err != nil:
			return ev, err
		case e.Seq > ev.after:
			ev.waiting = append(ev.waiting, e.Data)
		}
	}
}

// cursor returns how far the journal was processed, according to the store.
func (v *visit) cursor(ctx context.Context, set func(tx *store.Tx) error) (at uint64, err error) {
	opt := v.options(aStore{"store", v.ring.StoreKey(), true})
	if _, err := os.Stat(opt.Dir); errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	s, err := store.Open(opt)
	if err != nil {
		return 0, err
	}
	if set != nil {
		err = s.Update(ctx, set)
	} else {
		err = s.View(ctx, func(tx *store.Tx) (err error) {
			at, err = tx.Cursor(v.Cursor)
			return err
		})
	}
	return at, errors.Join(err, s.Close())
}

func (v *visit) lookJournal(ctx context.Context) error {
	at, err := v.cursor(ctx, nil)
	if errors.Is(err, memory.ErrDamaged) {
		at, err = 0, nil // this is a finding already
	}
	if err != nil {
		return err
	}
	ev, err := v.readJournal(ctx, at)
	for _, d := range ev.damage {
		v.find("journal", "", false, "%v", d)
	}
	return err
}

// repairJournal writes the readable entries that wait to a new journal.
func (v *visit) repairJournal(ctx context.Context) error {
	at, err := v.cursor(ctx, nil)
	if err != nil {
		return err
	}
	dir := filepath.Join(v.Dir, "journal")
	into := dir + mendingSuffix
	if _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) {
		if _, err := os.Stat(into); err == nil { // interrupted between the two renames, so the new journal is complete
			return v.swapIn(into, dir)
		}
	}
	ev, err := v.readJournal(ctx, at)
	if err != nil || len(ev.damage) == 0 {
		return err
	}
	if err := os.RemoveAll(into); err != nil {
		return err
	}
	j, err := journal.Open(into, v.ring.JournalRecipient(), journal.Options{Reserve: -1})
	if err != nil {
		return err
	}
	for _, e := range ev.waiting {
		if _, err := j.Append(ctx, e); err != nil {
			return errors.Join(err, j.Close())
		}
	}
	if err := j.Close(); err != nil {
		return err
	}
	for _, d := range ev.damage {
		var c *journal.CorruptError
		lost := errors.As(d, &c) && c.First != 0 && c.Last > ev.after
		done := fmt.Sprintf("%d events that wait were taken over", len(ev.waiting))
		v.find("journal", done, lost, "%v", d)
	}
	// The cursor is set first. After a crash between the two, events are
	// processed twice, which changes nothing.
	if _, err := v.cursor(ctx, func(tx *store.Tx) error { return tx.SetCursor(v.Cursor, 0) }); err != nil {
		return err
	}
	if err := v.quarantine(dir); err != nil {
		return err
	}
	return v.swapIn(into, dir)
}
