package delta

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// MaxReport is how many bytes a report's text has at most.
const MaxReport = 64 << 10

// Report is what a worker says of its own work: where its jobs stand, and what
// it has read since the report before. It is a claim: that it is signed, and in
// the chain of the worker's deltas, shows who made it and that none is missing,
// and not that it is true. Nothing follows from it.
type Report struct {
	Number uint64 `json:"number"` // from 1, of the author
	Text   string `json:"text"`   // a JSON object, see Told; a field that is not known is passed over
}

// Told is what a report's text says.
type Told struct {
	At    time.Time `json:"at"` // by the worker's clock
	Work  []Work    `json:"work,omitempty"`
	Spent Spent     `json:"spent,omitzero"`
	Reads []Read    `json:"reads,omitempty"` // since the report before
}

// Work is where the jobs of one kind stand in the space.
type Work struct {
	Kind    string   `json:"kind"`
	Engine  string   `json:"engine,omitempty"`
	Waiting int64    `json:"waiting"`
	Running int64    `json:"running,omitempty"`
	Done    int64    `json:"done"`
	Parked  int64    `json:"parked"`
	Reasons []Reason `json:"reasons,omitempty"` // of those that are parked, or wait for a reason
}

// Reason is why jobs are parked or wait.
type Reason struct {
	Reason string `json:"reason"`
	Jobs   int    `json:"jobs"`
}

// Spent is what the space has cost today (UTC).
type Spent struct {
	Tokens   int64 `json:"tokens,omitempty"`
	MicroUSD int64 `json:"micro_usd,omitempty"`
}

// Read is one thing that was opened and given to an engine.
type Read struct {
	At      time.Time `json:"at"`
	Kind    string    `json:"kind"`    // of the work
	Subject string    `json:"subject"` // a memory's id, or another name of what was read
	Engine  string    `json:"engine"`
	Of      []string  `json:"of,omitempty"` // ids of the lines, memories or photos, where it is several; at most MaxOf
	To      string    `json:"to,omitempty"` // host that it was sent to; empty: it stayed on the worker's machine
}

// Limits of what is told.
const (
	MaxReads   = 256 // in one report
	MaxOf      = 512 // ids of one read
	maxWork    = 32
	MaxReasons = 8   // of one kind of work
	maxTold    = 512 // bytes of a name or reason
)

// NewReport makes a report of what is told. It fails where that is too much.
func NewReport(number uint64, t Told) (*Report, error) {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // six bytes for each <, of no use here
	if err := enc.Encode(t); err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	r := &Report{Number: number, Text: strings.TrimSuffix(b.String(), "\n")}
	if _, err := r.Told(); err != nil {
		return nil, err
	}
	return r, nil
}

// Told reads the text, whoever wrote it.
func (r *Report) Told() (t Told, err error) {
	if err := r.check(); err != nil {
		return t, err
	}
	if err := json.Unmarshal([]byte(r.Text), &t); err != nil {
		return Told{}, fmt.Errorf("%w: report %d: not its JSON", ErrForm, r.Number)
	}
	names := []string{}
	for _, w := range t.Work {
		names = append(names, w.Kind, w.Engine)
		if min(w.Waiting, w.Running, w.Done, w.Parked) < 0 || len(w.Reasons) > MaxReasons {
			return Told{}, fmt.Errorf("%w: report %d: work of kind %.40q", ErrForm, r.Number, w.Kind)
		}
		for _, why := range w.Reasons {
			names = append(names, why.Reason)
		}
	}
	for _, d := range t.Reads {
		names = append(append(names, d.Kind, d.Subject, d.Engine, d.To), d.Of...)
		if len(d.Of) > MaxOf {
			return Told{}, fmt.Errorf("%w: report %d: a read of %d ids, at most %d", ErrForm, r.Number, len(d.Of), MaxOf)
		}
	}
	for _, n := range names {
		if len(n) > maxTold {
			return Told{}, fmt.Errorf("%w: report %d: a name of %d bytes, at most %d", ErrForm, r.Number, len(n), maxTold)
		}
	}
	if len(t.Work) > maxWork || len(t.Reads) > MaxReads || min(t.Spent.Tokens, t.Spent.MicroUSD) < 0 {
		return Told{}, fmt.Errorf("%w: report %d: %d kinds of work and %d reads", ErrForm, r.Number, len(t.Work), len(t.Reads))
	}
	return t, nil
}

func (r *Report) check() error {
	if r.Number == 0 || r.Text == "" || len(r.Text) > MaxReport || !utf8.ValidString(r.Text) {
		return fmt.Errorf("%w: report %d of %d bytes", ErrForm, r.Number, len(r.Text))
	}
	return nil
}
