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
		d = serve.Day{Date: date, Zone: memory.ZoneName(zone), From: from, To: to, Lines: []serve.DayLine{}, Memories: []memory.Memory{},
			Refusals: []serve.DayRefusal{}, Pauses: rd.pauses.PausesBetween(from, to)}
		if err := dayLines(tx, &d); err != nil {
			return err
		}
		if err := qr.dayMemories(ctx, tx, &d); err != nil {
			return err
		}
		if before, _ := qr.c.Engine.UtteranceTimesAround(from); !before.IsZero() {
			d.Before = serve.DateOf(before.In(zone))
		}
		if _, next := qr.c.Engine.UtteranceTimesAround(to); !next.IsZero() {
			d.Next = serve.DateOf(next.In(zone))
		}
		return nil
	})
	return d, err
}

// dayLines adds the utterances, each with the reasons why nothing of it was
// remembered.
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

// dayMemories adds what was remembered.
func (qr *Query) dayMemories(ctx context.Context, tx *store.Tx, d *serve.Day) error {
	var ids []memory.ID
	since, until := d.From.UnixMilli(), d.To.UnixMilli()
	err := qr.overview.look(ctx, tx, func() error {
		for _, l := range qr.overview.byLearnt() {
			if !l.negates && slices.ContainsFunc(l.heard, func(at int64) bool { return at >= since && at < until }) {
				ids = append(ids, l.id)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	line := make(map[memory.ID]int, len(d.Lines))
	for i := range d.Lines {
		line[d.Lines[i].ID] = i
	}
	first := map[memory.ID]time.Time{} // the time of a memory's first evidence of this day
	now := qr.c.Now()
	// Some may be gone: see overview.look.
	for m, err := range tx.MemoriesOf(ids) {
		if err != nil {
			return err
		}
		if m.Expired(now) {
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
	err = opened.View(ctx, rd.of, func(qr *Query, _ *store.Tx) error {
		zone := qr.c.Zone
		since, _, err := from.In(zone)
		if err != nil {
			return err
		}
		_, until, err := to.In(zone)
		if err != nil {
			return err
		}
		out = serve.DaysAnswer{Zone: memory.ZoneName(zone), Days: []serve.DayCount{}}
		for _, at := range qr.c.Engine.UtteranceTimes(since, until) {
			date := serve.DateOf(time.UnixMilli(at).In(zone))
			if last := len(out.Days) - 1; last < 0 || out.Days[last].Date != date {
				out.Days = append(out.Days, serve.DayCount{Date: date})
			}
			out.Days[len(out.Days)-1].Lines++
		}
		if last, _ := qr.c.Engine.UtteranceTimesAround(qr.c.Now().Add(24 * time.Hour)); !last.IsZero() {
			out.Last = serve.DateOf(last.In(zone))
		}
		return nil
	})
	return out, err
}

// watchPoll is how often Watch asks the store whether something has changed.
const watchPoll = 250 * time.Millisecond

// Watch implements serve.Watcher.
func (rd Reader) Watch(ctx context.Context) iter.Seq2[uint64, error] {
	return func(yield func(uint64, error) bool) {
		var was store.Edition
		var wasAsked string
		var paused uint64
		for count := uint64(0); ; {
			var now store.Edition
			var asked string
			err := opened.View(ctx, rd.of, func(qr *Query, tx *store.Tx) (err error) {
				if now, err = tx.Edition(); err == nil && qr.c.ConsentEdition != nil {
					asked, err = qr.c.ConsentEdition(tx)
				}
				return err
			})
			if ctx.Err() != nil {
				return
			}
			pauses := rd.pauses.Changes()
			if count == 0 || now != was || asked != wasAsked || err != nil || pauses != paused {
				count++
				if was, wasAsked, paused = now, asked, pauses; !yield(count, err) || err != nil {
					return
				}
			}
			if !wait.For(ctx, watchPoll) {
				return
			}
		}
	}
}
