package calendar

import (
	"encoding/xml"
	"errors"
	"net/http"
	"strings"
	"time"
)

// compFilter is a filter by component and time; other conditions are unknown, and
// refused.
type compFilter struct {
	Name  string       `xml:"name,attr"`
	Comps []compFilter `xml:"urn:ietf:params:xml:ns:caldav comp-filter"`
	Range *struct {
		Start string `xml:"start,attr"`
		End   string `xml:"end,attr"`
	} `xml:"urn:ietf:params:xml:ns:caldav time-range"`
	Other []struct {
		XMLName xml.Name
	} `xml:",any"`
}

func (d *dav) report(w http.ResponseWriter, r *http.Request) error {
	var q struct {
		XMLName xml.Name
		Prop    *names   `xml:"DAV: prop"`
		Hrefs   []string `xml:"DAV: href"`
		Filter  struct {
			Comp compFilter `xml:"urn:ietf:params:xml:ns:caldav comp-filter"`
		} `xml:"urn:ietf:params:xml:ns:caldav filter"`
	}
	if err := errors.Join(read(r, &q), q.Prop.limit()); err != nil {
		return err
	}
	if name := strings.TrimSuffix(r.URL.Path, "/") + "/"; name != davCal {
		return refusal(http.StatusNotFound, "there is no calendar")
	}
	var wants func(*object) bool
	switch q.XMLName {
	case xml.Name{Space: nsCal, Local: "calendar-multiget"}:
	case xml.Name{Space: nsCal, Local: "calendar-query"}:
		var err error
		if wants, err = q.Filter.Comp.match(); err != nil {
			return err
		}
	default:
		return refusal(http.StatusForbidden, "report %.60q: want calendar-query or calendar-multiget", q.XMLName.Local)
	}
	all, err := d.objects()
	if err != nil {
		return err
	}
	var m multistatus
	if wants != nil {
		for i := range all {
			if wants(&all[i]) {
				m.add(d, all[i].path, all[i].props(true), q.Prop)
			}
		}
		return m.write(w)
	}
	at := make(map[string]*object, len(all))
	for i := range all {
		at[all[i].path] = &all[i]
	}
	answered := make(map[string]bool, len(q.Hrefs)) // each only once, whatever precedes it
	for _, h := range q.Hrefs {
		name := h
		if i := strings.Index(h, davCal); i >= 0 {
			name = h[i:]
		}
		if answered[name] {
			continue
		}
		answered[name] = true
		if o := at[name]; o != nil {
			m.add(d, o.path, o.props(true), q.Prop)
		} else {
			m.missing(h)
		}
	}
	return m.write(w)
}

// match returns a function that applies the filter.
func (f *compFilter) match() (func(*object) bool, error) {
	refused := refusal(http.StatusForbidden, "filter: want VCALENDAR, and within it VEVENT or VTODO, with a time-range or without")
	if f.Name != "VCALENDAR" || len(f.Comps) > 1 || f.Range != nil || len(f.Other) > 0 {
		return nil, refused
	}
	if len(f.Comps) == 0 {
		return func(*object) bool { return true }, nil
	}
	c := &f.Comps[0]
	if len(c.Comps) > 0 || len(c.Other) > 0 {
		return nil, refused
	}
	var from, to time.Time
	if c.Range != nil {
		for _, at := range []struct {
			text string
			to   *time.Time
		}{{c.Range.Start, &from}, {c.Range.End, &to}} {
			if at.text == "" {
				continue
			}
			t, err := time.Parse(formUTC, at.text)
			if err != nil {
				return nil, refusal(http.StatusBadRequest, "time-range: %.40q is not a time in UTC such as 20260301T000000Z", at.text)
			}
			*at.to = t
		}
	}
	return func(o *object) bool {
		return o.component() == c.Name && (c.Range == nil || o.within(from, to))
	}, nil
}

// within reports whether any part of an entry is between two times; zero: no limit.
func (e *entry) within(from, to time.Time) bool {
	if e.at.IsZero() {
		return true // a task without a date always matches
	}
	long := 24 * time.Hour
	if e.clock {
		long = time.Second
		if f := e.m.Fields.Episodic; f != nil && f.Ended.After(f.Started) {
			long = f.Ended.Sub(f.Started)
		}
	}
	in := func(at time.Time) bool {
		return (from.IsZero() || at.Add(long).After(from)) && (to.IsZero() || at.Before(to))
	}
	if !e.yearly {
		return in(e.at)
	}
	if from.IsZero() || to.IsZero() {
		return to.IsZero() || e.at.Before(to)
	}
	for year := from.Year() - 1; year <= to.Year() && year <= from.Year()+8; year++ { // there is a 29 February within 8 years
		at := time.Date(year, e.at.Month(), e.at.Day(), 0, 0, 0, 0, e.at.Location())
		if at.Day() == e.at.Day() && !at.Before(e.at) && in(at) {
			return true
		}
	}
	return false
}
