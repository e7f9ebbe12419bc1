// Package calendar shows what is to come as iCalendar (RFC 5545), for programs that
// subscribe to an address: appointments and plans as events, promises as tasks,
// birthdays as days of each year.
//
//   - A program that asks is an app with a key, and sees what the app may see; each reading
//     is in the app's log.
//   - A memory is one entry, whose UID is its id. Memories that are superseded, archived or
//     forgotten are not in the feed, and calendars remove them.
//   - Times are the wearer's, in their zone, which the file describes. A date without a
//     time is an all-day entry.
package calendar

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/locket-dev/locket/internal/hans"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/filter"
	"github.com/locket-dev/locket/node/serve"
)

// Pattern is the path of the feed; the app's key may precede it.
const Pattern = "GET /calendar.ics"

// Limits of a feed.
const (
	back       = 90 * 24 * time.Hour // how long past entries are shown
	maxEntries = 2000
)

// Config says whose calendar it is.
type Config struct {
	Wearer string
	Zone   *time.Location
	Now    func() time.Time // nil: time.Now
}

// Door gives the feed over an API.
func Door(c Config, api http.Handler) serve.Door {
	if c.Now == nil {
		c.Now = time.Now
	}
	return serve.Door{Needs: serve.RightRead, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ms, err := list(r.Context(), serve.AsApp(api, r), c.Now())
		if err != nil {
			refuse(w, err)
			return
		}
		body := write(c, ms)
		tag := tagOf(body)
		h := w.Header()
		h.Set("ETag", tag)
		if r.Header.Get("If-None-Match") == tag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		h.Set("Content-Type", "text/calendar; charset=utf-8")
		h.Set("Content-Disposition", `inline; filename="locket.ics"`)
		_, _ = w.Write(body) // an error means that the client has left
	})}
}

// refuse answers with an error in the form of the API.
func refuse(w http.ResponseWriter, err error) {
	p, ok := errors.AsType[*serve.Problem](err)
	if !ok {
		p = &serve.Problem{Type: "about:blank", Title: "The calendar can't be made", Status: http.StatusInternalServerError}
	}
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(p.Status)
	_ = json.NewEncoder(w).Encode(p)
}

// kinds are the tags of the memories in the calendar.
var kinds = []string{"appointment", "plan", "promise"}

// list returns the memories in the feed.
func list(ctx context.Context, c *serve.Client, now time.Time) (out []memory.Memory, err error) {
	var f filter.Filter
	since := now.Add(-back).UTC().Format(time.RFC3339)
	text, err := json.Marshal(map[string]any{"OR": []any{
		map[string]any{"AND": []any{map[string]any{"type": memory.Episodic}, map[string]any{"tags": map[string]any{"in": kinds}},
			map[string]any{"OR": []any{map[string]any{"started": map[string]any{"gte": since}}, map[string]any{"started": map[string]any{"exists": false}}}}}},
		map[string]any{"AND": []any{map[string]any{"type": memory.Semantic}, map[string]any{"attribute": "birthday"}}},
	}})
	if err == nil {
		err = json.Unmarshal(text, &f)
	}
	if err != nil {
		return nil, err
	}
	for q := (serve.ListQuery{Filters: f, Limit: serve.MaxPage}); len(out) < maxEntries; {
		page, err := c.List(ctx, q)
		if err != nil {
			return nil, err
		}
		for i := range page.Memories {
			if !page.Memories[i].Negates {
				out = append(out, page.Memories[i])
			}
		}
		if q.Cursor = page.Next; q.Cursor == "" {
			break
		}
	}
	return out, nil
}

// entry is a memory in the form of a calendar entry.
type entry struct {
	m      *memory.Memory
	task   bool
	yearly bool
	at     time.Time // in the wearer's zone; zero: a task without a day
	clock  bool      // at has a time of day, and is not just a date

	moved time.Duration // difference from the memory's instant to at, which also applies to its end
}

// entryOf returns a memory's entry; ok is false if it has no time that a calendar could
// show.
func entryOf(m *memory.Memory, zone *time.Location) (e entry, ok bool) {
	e.m = m
	if m.Slot != nil && m.Slot.Attribute == "birthday" {
		month, day, ok := dayOf(m.Slot.Value)
		if !ok {
			return e, false
		}
		year := m.Learnt.In(zone).Year()
		for e.at = time.Date(year, month, day, 0, 0, 0, 0, zone); e.at.Day() != day; year-- { // 29 February
			e.at = time.Date(year-1, month, day, 0, 0, 0, 0, zone)
		}
		e.yearly = true
		return e, true
	}
	f := m.Fields.Episodic
	if f == nil {
		return e, false
	}
	e.task = f.EventType == "promise"
	if f.Started.IsZero() {
		return e, e.task
	}
	e.at, e.clock = m.Begins(zone)
	if e.clock {
		e.moved = e.at.Sub(f.Started)
	}
	return e, true
}

// dayOf parses the day of a birthday in the forms that the extractors write: "March 3",
// "3月3日".
func dayOf(s string) (time.Month, int, bool) {
	s = strings.NewReplacer("月", "/", "日", "", "号", "").Replace(strings.TrimSpace(hans.Fold(s)))
	for _, layout := range []string{"January 2", "1/2", "01-02", "2006-01-02", "2 January"} {
		// A leap year is tried first, because 29 February needs one.
		if t, err := time.Parse("2006 "+layout, "2000 "+s); err == nil && !strings.HasPrefix(layout, "2006") {
			return t.Month(), t.Day(), true
		}
		if t, err := time.Parse(layout, s); err == nil && strings.HasPrefix(layout, "2006") {
			return t.Month(), t.Day(), true
		}
	}
	return 0, 0, false
}
