package day

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/locket-dev/locket/memory"
)

// validate checks what can't be checked for a single line: order, zone, files, and that the
// expectations belong to this day.
func (d *Day) validate() error {
	loc, err := d.Location()
	if err != nil || d.Zone == "" || d.Wearer == "" {
		return fmt.Errorf("%w: %s:1: zone %q, wearer %q: %v", ErrInvalid, LinesFile, d.Zone, d.Wearer, err)
	}
	if _, err := time.ParseInLocation(time.DateOnly, d.Date, loc); err != nil {
		return fmt.Errorf("%w: %s:1: date: %v", ErrInvalid, LinesFile, err)
	}
	var last time.Time
	for i := range d.Lines {
		l := &d.Lines[i]
		if err := d.validateLine(l, loc, last); err != nil {
			return fmt.Errorf("%w: %s:%d: %w", ErrInvalid, LinesFile, l.Number, err)
		}
		last = l.At
	}
	if err := d.validateExpect(); err != nil {
		return fmt.Errorf("%w: %s: %w", ErrInvalid, ExpectFile, err)
	}
	return nil
}

func (d *Day) validateLine(l *Line, loc *time.Location, last time.Time) error {
	if l.At.Before(last) {
		return fmt.Errorf("at: %s is before the line above", l.At.Format(time.TimeOnly))
	}
	if got := l.At.In(loc).Format(time.DateOnly); got != d.Date {
		return fmt.Errorf("at: %s is not on the day, %s", got, d.Date)
	}
	_, have := l.At.Zone()
	if _, want := l.At.In(loc).Zone(); have != want {
		return fmt.Errorf("at: offset of %d s, %s has %d s then", have, d.Zone, want)
	}
	if _, err := l.events(d.files[l.File], d.Zone); err != nil {
		return fmt.Errorf("file: %w", err)
	}
	return nil
}

func (d *Day) validateExpect() error {
	e := &d.Expect
	for i, s := range e.Secrets {
		where := fmt.Sprintf("secrets[%d]", i)
		if s.Name == "" || s.Value == "" || len(s.Label) == 0 || !slices.Contains(s.Forms, s.Value) {
			return fmt.Errorf("%s: name, value and label are needed, and the value is one of the forms", where)
		}
		if err := d.said(where, s.Lines); err != nil {
			return err
		}
		for _, n := range s.Lines {
			if l, _ := d.Line(n); !holdsAny(l.Text, s.Forms) {
				return fmt.Errorf("%s: line %d holds none of its forms", where, n)
			}
		}
		for _, l := range d.Lines {
			if !slices.Contains(s.Lines, l.Number) && holdsAny(l.Text, s.Forms) {
				return fmt.Errorf("%s: one of its forms stands in line %d too", where, l.Number)
			}
		}
	}
	for i, q := range e.Questions {
		where := fmt.Sprintf("questions[%d]", i)
		if q.Question == "" || q.Lang == "" {
			return fmt.Errorf("%s: question and lang are needed", where)
		}
		if (len(q.Current) == 0) != (len(q.Former) == 0) || (len(q.Former) == 0) != (len(q.FormerLines) == 0) {
			return fmt.Errorf("%s: current, former and former_lines go together", where)
		}
		if err := d.said(where, q.Lines, q.FormerLines); err != nil {
			return err
		}
	}
	for i, r := range e.Refused {
		where := fmt.Sprintf("refused[%d]", i)
		if err := d.said(where, []int{r.Line}); err != nil {
			return err
		}
		for _, q := range e.Questions {
			if slices.Contains(q.Lines, r.Line) {
				return fmt.Errorf("%s: line %d is the evidence for %q", where, r.Line, q.Question)
			}
		}
	}
	for i, p := range e.Procedures {
		if err := d.said(fmt.Sprintf("procedures[%d]", i), p.Lines); err != nil {
			return err
		}
	}
	return d.validateFiles()
}

func (d *Day) validateFiles() error {
	names := slices.Clone(d.Expect.Photos.Apart)
	for _, pair := range d.Expect.Photos.Alike {
		names = append(names, pair[:]...)
	}
	for _, n := range d.Expect.Notes {
		names = append(names, n.File)
	}
	for _, n := range names {
		if !slices.ContainsFunc(d.Lines, func(l Line) bool { return l.Kind == memory.KindPhoto && l.File == n }) {
			return fmt.Errorf("photos, notes: %s is no photo of the day", n)
		}
	}
	for i, g := range d.Expect.Gaps {
		if l, ok := d.Line(g.Line); !ok || l.Kind != memory.KindGap || l.Device != g.Device || l.Missing != g.Missing {
			return fmt.Errorf("gaps[%d]: line %d is not that gap", i, g.Line)
		}
	}
	return nil
}

// said checks that each list has the numbers of lines of text; the first list must not be empty.
func (d *Day) said(where string, lists ...[]int) error {
	if len(lists[0]) == 0 {
		return fmt.Errorf("%s: no lines", where)
	}
	for _, list := range lists {
		for _, n := range list {
			if l, ok := d.Line(n); !ok || l.Kind != memory.KindText {
				return fmt.Errorf("%s: line %d is not something said", where, n)
			}
		}
	}
	return nil
}

// holds reports whether text contains form, in any case: unchanged, or as whole words with other
// punctuation in between. A form of digits only is not found inside a longer number; a short one
// not inside a word either, because ids and encoded bytes contain any four digits somewhere.
func holds(text, form string) bool {
	if form == "" {
		return false
	}
	if strings.Trim(form, "0123456789") == "" {
		between := func(r rune) bool { return r < '0' || r > '9' }
		if len(form) < 6 {
			between = func(r rune) bool {
				return (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
			}
		}
		return slices.Contains(strings.FieldsFunc(text, between), form)
	}
	if strings.Contains(strings.ToLower(text), strings.ToLower(form)) {
		return true
	}
	n := memory.Normal(form)
	return n != "" && strings.Contains(" "+memory.Normal(text)+" ", " "+n+" ")
}

func holdsAny(text string, forms []string) bool {
	return slices.ContainsFunc(forms, func(f string) bool { return holds(text, f) })
}
