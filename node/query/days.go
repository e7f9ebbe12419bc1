package query

import (
	"context"
	"iter"
	"slices"
	"time"

	"github.com/locket-dev/locket/internal/sorting"
	"github.com/locket-dev/locket/internal/wait"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/opened"
	"github.com/locket-dev/locket/node/serve"
)

// Day implements serve.Calendar.
func (rd Reader) Day(ctx context.Context, date serve.Date) (d serve.Day, err error) {
	err = opened.View(ctx, rd.of, func(qr *Query, tx *store.Tx) error {
		zone := qr.c.Zone
		from, to, err := date.In(zone)
		if err != nil {
			return err
		}
		d = serve.Day{Date: date, Zone: zone.String(), From: from, To: to, Lines: []serve.DayLine{}, Memories: []memory.Memory{},
			Refusals: []serve.DayRefusal{}, Pauses: rd.pauses(from, to)}
		if err := dayLines(tx, &d); err != nil {
			return err
		}
		if err := qr.dayMemories(tx, &d); err != nil {
			return err
		}
		d.Before, err = heardLast(tx, from, zone)
		if err != nil {
			return err
		}
		for u, err := range tx.Utterances(to, time.Time{}) {
			if err == nil {
				d.Next = serve.DateOf(u.At.In(zone))
			}
			return err
		}
		return nil
	})
	return d, err
}

// dayLines gives the utterances, each with the reasons why nothing was remembered
// of it.
func dayLines(tx *store.Tx, d *serve.Day) error {
	heard := map[memory.EventID]int{} // the first line of each event
	for u, err := range tx.Utterances(d.From, d.To) {
		if err != nil {
			return err
		}
		if len(d.Lines) == serve.MaxDayLines {
			d.More = true
			break
		}
		if _, ok := heard[u.Event]; !ok {
			heard[u.Event] = len(d.Lines)
		}
		d.Lines = append(d.Lines, serve.DayLine{ID: u.ID, At: u.At, Event: u.Event, Session: u.Session, Speaker: u.Speaker, Lang: u.Lang,
			Text: u.Text, Place: u.Place, Redacted: u.Redacted})
	}
	for r, err := range tx.Refusals() {
		if err != nil {
			return err
		}
		if r.At.Before(d.From) || !r.At.Before(d.To) {
			continue
		}
		shown := serve.DayRefusal{At: r.At, Kind: r.Kind, Reason: r.Reason, Plugin: r.Plugin}
		if i, ok := heard[r.Event]; ok {
			d.Lines[i].Refusals = append(d.Lines[i].Refusals, shown)
		} else if len(d.Refusals) < serve.MaxDayLines {
			d.Refusals = append(d.Refusals, shown)
		}
	}
	return nil
}

// dayMemories gives what was remembered. Nothing is learnt before it is heard, so
// only memories that were learnt since the day began are read.
func (qr *Query) dayMemories(tx *store.Tx, d *serve.Day) error {
	line := make(map[memory.ID]int, len(d.Lines))
	for i := range d.Lines {
		line[d.Lines[i].ID] = i
	}
	first := map[memory.ID]time.Time{} // a memory's first evidence of this day
	// A device's clock may be ahead of the node's by a little.
	for m, err := range tx.Memories(store.Filter{Since: d.From.Add(-memory.SessionGap), Oldest: true}) {
		if err != nil {
			return err
		}
		if m.Negates {
			continue
		}
		for _, e := range m.Evidence {
			if e.At.Before(d.From) || !e.At.Before(d.To) {
				continue
			}
			if at, ok := first[m.ID]; !ok {
				m.Categories = qr.c.Sorter.Of(m)
				d.Memories = append(d.Memories, *m)
				first[m.ID] = e.At
			} else if e.At.Before(at) {
				first[m.ID] = e.At
			}
			if i, ok := line[e.Utterance]; ok && !slices.Contains(d.Lines[i].Memories, m.ID) {
				d.Lines[i].Memories = append(d.Lines[i].Memories, m.ID)
			}
		}
	}
	sorting.Stable(d.Memories, func(a, b memory.Memory) int { return first[a.ID].Compare(first[b.ID]) })
	return nil
}

// heardLast gives the latest day before a time on which something was said;
// empty: none. It looks further and further back, because utterances can only be
// read forwards.
func heardLast(tx *store.Tx, before time.Time, zone *time.Location) (last serve.Date, err error) {
	for back := 24 * time.Hour; ; back *= 8 {
		since := before.Add(-back)
		if back > 20*365*24*time.Hour {
			since = time.Time{}
		}
		for u, err := range tx.Utterances(since, before) {
			if err != nil {
				return "", err
			}
			last = serve.DateOf(u.At.In(zone))
		}
		if last != "" || since.IsZero() {
			return last, nil
		}
	}
}

// Zone implements serve.Calendar.
func (rd Reader) Zone(ctx context.Context) (zone *time.Location, err error) {
	err = opened.View(ctx, rd.of, func(qr *Query, _ *store.Tx) error {
		zone = qr.c.Zone
		return nil
	})
	return zone, err
}

// Days implements serve.Calendar.
func (rd Reader) Days(ctx context.Context, from, to serve.Date) (out serve.DaysAnswer, err error) {
	err = opened.View(ctx, rd.of, func(qr *Query, tx *store.Tx) error {
		zone := qr.c.Zone
		since, _, err := from.In(zone)
		if err != nil {
			return err
		}
		_, until, err := to.In(zone)
		if err != nil {
			return err
		}
		out = serve.DaysAnswer{Zone: zone.String(), Days: []serve.DayCount{}}
		for u, err := range tx.Utterances(since, until) {
			if err != nil {
				return err
			}
			date := serve.DateOf(u.At.In(zone))
			if last := len(out.Days) - 1; last < 0 || out.Days[last].Date != date {
				out.Days = append(out.Days, serve.DayCount{Date: date})
			}
			out.Days[len(out.Days)-1].Lines++
		}
		out.Last, err = heardLast(tx, time.Now().Add(24*time.Hour), zone)
		return err
	})
	return out, err
}

// watchPoll is how often Watch asks the store whether something has changed.
const watchPoll = 250 * time.Millisecond

// Watch implements serve.Watcher.
func (rd Reader) Watch(ctx context.Context) iter.Seq2[uint64, error] {
	return func(yield func(uint64, error) bool) {
		var was store.Edition
		var paused []serve.Span
		for count := uint64(0); ; {
			var now store.Edition
			err := opened.View(ctx, rd.of, func(_ *Query, tx *store.Tx) (err error) {
				now, err = tx.Edition()
				return err
			})
			if ctx.Err() != nil {
				return
			}
			at := time.Now()
			pauses := rd.pauses(at, at)
			if count == 0 || now != was || err != nil || !slices.Equal(pauses, paused) {
				count++
				if was, paused = now, pauses; !yield(count, err) || err != nil {
					return
				}
			}
			if !wait.For(ctx, watchPoll) {
				return
			}
		}
	}
}
