// Package day has days to replay: what a wearable would send from morning to night, with the
// expected result.
//
// The words:
//
//   - A [Day] is a file of lines and the files that they name: the fixed day of
//     testdata/day ([Fixed]), or one made from a seed ([Generate]).
//   - A [Line] is one thing that a wearable sent: an utterance, a photo, a recording, a place, a
//     reading, a press of a button, a gap.
//   - An [Event] is what is published for a line. A recording of eleven seconds
//     is one line and eleven events.
//   - [Expect] says what the result should be: the secrets, what must be findable and through which
//     lines, and what must not become a memory. It does not depend on how anything is extracted,
//     and cites lines by their number.
//   - [Day.Check] is the judge: it compares a [Result] with the expectations and describes the
//     differences.
//
// The format is described in testdata/day/README.md.
package day

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	fixed "github.com/locket-dev/locket/testdata/day"
)

// ErrInvalid: a line or an expectation breaks a rule of the format; the
// wrapping error names the file and the line.
var ErrInvalid = errors.New("invalid day")

// The names of a day's own files. The first has the lines, the second [Expect].
const (
	LinesFile  = "day.jsonl"
	ExpectFile = "expect.json"
)

// Day is one day of one wearer. It does not change after it was made, and may be read concurrently.
type Day struct {
	Wearer string // the speaker of their own lines
	Date   string // 2006-01-02
	Zone   string // IANA name
	Lines  []Line
	Expect Expect

	files map[string][]byte // files that lines name, and the encoded day.jsonl and expect.json
}

// Fixed returns the day of testdata/day.
func Fixed() (*Day, error) { return load(fixed.Files) }

// load reads a day from the root of fsys: day.jsonl, expect.json and every
// file that a line names.
func load(fsys fs.FS) (*Day, error) {
	d := &Day{files: map[string][]byte{}}
	b, err := fs.ReadFile(fsys, LinesFile)
	if err != nil {
		return nil, fmt.Errorf("load day: %w", err)
	}
	d.files[LinesFile] = b
	if err := d.parse(b); err != nil {
		return nil, fmt.Errorf("load day: %w", err)
	}
	for _, l := range d.Lines {
		if _, ok := d.files[l.File]; l.File == "" || ok {
			continue
		}
		f, err := fs.ReadFile(fsys, l.File)
		if err != nil {
			return nil, fmt.Errorf("load day: %s:%d: %w", LinesFile, l.Number, err)
		}
		d.files[l.File] = f
	}
	if b, err = fs.ReadFile(fsys, ExpectFile); err != nil {
		return nil, fmt.Errorf("load day: %w", err)
	}
	d.files[ExpectFile] = b
	if err := decodeStrict(b, &d.Expect); err != nil {
		return nil, fmt.Errorf("load day: %w: %s: %v", ErrInvalid, ExpectFile, err)
	}
	if err := d.validate(); err != nil {
		return nil, fmt.Errorf("load day: %w", err)
	}
	return d, nil
}

// Location returns the day's zone.
func (d *Day) Location() (*time.Location, error) { return time.LoadLocation(d.Zone) }

// Line returns the line of that number in day.jsonl.
func (d *Day) Line(number int) (Line, bool) {
	i, ok := slices.BinarySearchFunc(d.Lines, number, func(l Line, n int) int { return l.Number - n })
	if !ok {
		return Line{}, false
	}
	return d.Lines[i], true
}

// Devices returns the names of the wearables, in the order of their first line.
func (d *Day) Devices() []string {
	var names []string
	for _, l := range d.Lines {
		if !slices.Contains(names, l.Device) {
			names = append(names, l.Device)
		}
	}
	return names
}
