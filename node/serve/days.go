package serve

import (
	"context"
	"fmt"
	"time"

	"github.com/locket-dev/locket/memory"
)

// Calendar returns what happened on which day.
type Calendar interface {
	// Day returns what was heard on a day in the node's time zone, oldest first, and
	// what was remembered of it. A day without anything is no error.
	Day(ctx context.Context, date Date) (Day, error)
	// Days counts the lines of each day from one date to another, both included, at
	// most MaxDays days. It leaves out days without any lines.
	Days(ctx context.Context, from, to Date) (DaysAnswer, error)
	// Lost returns what wearables reported as lost since a time, the newest first, at
	// most limit, and the pauses since then, oldest first.
	Lost(ctx context.Context, since time.Time, limit int) (Lost, error)
	// Zone returns the zone in which the node's days begin.
	Zone(ctx context.Context) (*time.Location, error)
}

// Date is a day as people write it down: 2026-09-14.
type Date string

// DateOf returns the day of t in t's time zone.
func DateOf(t time.Time) Date { return Date(t.Format(time.DateOnly)) }

// In returns the beginning of the day and of the next day in a time zone, or
// memory.ErrInvalid if d is not a date.
func (d Date) In(zone *time.Location) (from, to time.Time, err error) {
	from, err = time.ParseInLocation(time.DateOnly, string(d), zone)
	to = time.Date(from.Year(), from.Month(), from.Day()+1, 0, 0, 0, 0, zone)
	if err != nil || from.Year() < 1 || to.Year() > 9999 {
		return from, to, fmt.Errorf("%w: %.20q: want a date such as 2026-09-14", memory.ErrInvalid, string(d))
	}
	return from, to, nil
}

// MaxDays is how many days are counted at a time, MaxDayLines how many lines of a day
// are returned.
const (
	MaxDays     = 400
	MaxDayLines = 20000
)

// Day is what was heard on one day, and what was remembered of it.
type Day struct {
	Date Date      `json:"date"`
	Zone string    `json:"zone,omitempty"` // IANA name; absent: the time zone of the node's machine is not known
	From time.Time `json:"from"`
	To   time.Time `json:"to"` // the beginning of the next day
	// Lines are oldest first. A session is a run of lines without a gap of 30 minutes.
	Lines []DayLine `json:"lines"`
	More  bool      `json:"more,omitempty"` // the day has more lines than the answer
	// Memories are the memories with evidence of this day, in any state but
	// erased, oldest evidence first. Photos, recordings and visits are among
	// them.
	Memories []memory.Memory `json:"memories"`
	Refusals []DayRefusal    `json:"refusals"` // refusals that belong to no line, such as a loss that a device reported
	Pauses   []Span          `json:"pauses"`
	Next     Date            `json:"next,omitempty"`   // the next day on which something was heard
	Before   Date            `json:"before,omitempty"` // the previous day on which something was heard
}

// DayLine is one line that was said.
type DayLine struct {
	ID       memory.ID      `json:"id"`
	At       time.Time      `json:"at"`
	Event    memory.EventID `json:"event"`
	Session  string         `json:"session"`
	Speaker  string         `json:"speaker,omitempty"` // empty: unknown
	Lang     string         `json:"lang,omitempty"`
	Text     string         `json:"text"`
	Place    string         `json:"place,omitempty"`
	Redacted int            `json:"redacted,omitempty"` // number of secrets that were removed
	Memories []memory.ID    `json:"memories,omitempty"` // memories that have this line as evidence
	Refusals []DayRefusal   `json:"refusals,omitempty"` // why nothing more was remembered
}

// DayRefusal says why something did not become a memory.
type DayRefusal struct {
	At     time.Time `json:"at"`
	Kind   string    `json:"kind"`
	Reason string    `json:"reason"`
	Plugin string    `json:"plugin,omitempty"`
}

// Span is the time from one moment to another. If To is absent, the end is still open.
type Span struct {
	From time.Time `json:"from"`
	To   time.Time `json:"to,omitzero"`
	Why  string    `json:"why,omitempty"` // for a pause: said to NAME, or by a button of NAME
}

// DaysAnswer counts, for each day, what was heard.
type DaysAnswer struct {
	Zone string     `json:"zone,omitempty"`
	Days []DayCount `json:"days"`           // oldest first, without empty days
	Last Date       `json:"last,omitempty"` // the latest day on which anything was heard
}

// DayCount is the count of one day.
type DayCount struct {
	Date  Date `json:"date"`
	Lines int  `json:"lines"`
}

type dayOf struct {
	Day Date `path:"day" doc:"a date such as 2026-09-14"`
}

type daysQuery struct {
	From Date `query:"from" doc:"the first day"`
	To   Date `query:"to" doc:"the last day; at most 400 days"`
}

func (q *daysQuery) check() error {
	from, _, err := q.From.In(time.UTC)
	if err != nil {
		return kindInvalid.problem("from", "from: want a date such as 2026-09-14")
	}
	to, _, err := q.To.In(time.UTC)
	switch {
	case err != nil:
		return kindInvalid.problem("to", "to: want a date such as 2026-09-14")
	case to.Before(from):
		return kindInvalid.problem("to", "to: before from")
	case to.Sub(from) >= MaxDays*24*time.Hour:
		return kindInvalid.problem("to", fmt.Sprintf("to: at most %d days", MaxDays))
	}
	return nil
}

var daysTopic = topic[Calendar]{listDays.untyped, getDay.untyped, readFilter.untyped, getLost.untyped}

var (
	listDays = jsonRoute(RightOwner, spec{
		method: "GET", path: "/v1/days", id: "listDays",
		summary: "Count the lines that were heard, by day", gives: "The days on which something was heard",
	}, func(s Calendar, ctx context.Context, q daysQuery) (DaysAnswer, error) {
		return s.Days(ctx, q.From, q.To)
	})

	getDay = jsonRoute(RightOwner, spec{
		method: "GET", path: "/v1/days/{day}", id: "getDay",
		summary: "Show what was heard on a day, and what became of it",
		about:   "Lines come oldest first, each with the memories that quote it or the reason why there are none. Photos, recordings and visits are among the memories. Losses and pauses are listed, too. A day begins and ends at midnight in the node's time zone.",
		gives:   "The day",
	}, func(s Calendar, ctx context.Context, in dayOf) (Day, error) {
		d, err := s.Day(ctx, in.Day)
		d.Memories = withoutSealed(d.Memories...)
		return d, err
	})
)

// Day returns what was heard on a day.
func (c *Client) Day(ctx context.Context, date Date) (Day, error) {
	return call(ctx, c, getDay, dayOf{date})
}

// Days counts what was heard from one day to another.
func (c *Client) Days(ctx context.Context, from, to Date) (DaysAnswer, error) {
	return call(ctx, c, listDays, daysQuery{from, to})
}
