package delta

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// MaxReport is the greatest number of bytes of a report's text.
const MaxReport = 64 << 10

// Report is a worker's report of its own work: the state of its jobs, and what
// it has read since its previous report. A report is only a claim. The worker's
// signature and the chain of its deltas prove who made it and that none is
// missing, but not that it is true. It has no effect on memories.
type Report struct {
	Number uint64 `json:"number"` // counts the author's reports, from 1
	Text   string `json:"text"`   // a JSON object, see Content; unknown fields are ignored
}

// ReportContent is the parsed content of a report's text.
type ReportContent struct {
	At    time.Time `json:"at"` // by the worker's clock
	Work  []Work    `json:"work,omitempty"`
	Spent Spent     `json:"spent,omitzero"`
	Reads []Read    `json:"reads,omitempty"` // since the previous report
}

// Work is the state of the jobs of one kind in the space.
type Work struct {
	Kind    string   `json:"kind"`
	Engine  string   `json:"engine,omitempty"`
	Waiting int64    `json:"waiting"`
	Running int64    `json:"running,omitempty"`
	Done    int64    `json:"done"`
	Parked  int64    `json:"parked"`
	Reasons []Reason `json:"reasons,omitempty"` // why jobs are parked or wait
}

// Reason says why jobs are parked or wait.
type Reason struct {
	Reason string `json:"reason"`
	Jobs   int    `json:"jobs"`
}

// Spent is what the space has cost today (by UTC).
type Spent struct {
	Tokens   int64 `json:"tokens,omitempty"`
	MicroUSD int64 `json:"micro_usd,omitempty"`
}

// Read is one thing that the worker opened and gave to an engine.
type Read struct {
	At      time.Time `json:"at"`
	Kind    string    `json:"kind"`    // kind of the work
	Subject string    `json:"subject"` // id of a memory, or another name of what was read
	Engine  string    `json:"engine"`
	Of      []string  `json:"of,omitempty"` // ids of the lines, memories or photos if there are several; at most MaxOf
	To      string    `json:"to,omitempty"` // host to which it was sent; empty: it stayed on the worker's machine
}

// Limits of a report.
const (
	MaxReads   = 256 // in one report
	MaxOf      = 512 // ids of one read
	maxWork    = 32
	MaxReasons = 8   // of one kind of work
	maxTold    = 512 // bytes of a name or reason
)

// NewReport makes a report. It returns an error if the content exceeds a limit.
func NewReport(number uint64, t ReportContent) (*Report, error) {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // escaping would take six bytes for each <, and nothing needs it
	if err := enc.Encode(t); err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	r := &Report{Number: number, Text: strings.TrimSuffix(b.String(), "\n")}
	if _, err := r.Content(); err != nil {
		return nil, err
	}
	return r, nil
}

// Content parses the text. The text may come from any member and is checked
// against the limits.
func (r *Report) Content() (t ReportContent, err error) {
	if err := r.check(); err != nil {
		return t, err
	}
	if err := json.Unmarshal([]byte(r.Text), &t); err != nil {
		return ReportContent{}, fmt.Errorf("%w: report %d: not its JSON", ErrForm, r.Number)
	}
	names := []string{}
	for _, w := range t.Work {
		names = append(names, w.Kind, w.Engine)
		if min(w.Waiting, w.Running, w.Done, w.Parked) < 0 || len(w.Reasons) > MaxReasons {
			return ReportContent{}, fmt.Errorf("%w: report %d: work of kind %.40q", ErrForm, r.Number, w.Kind)
		}
		for _, why := range w.Reasons {
			names = append(names, why.Reason)
		}
	}
	for _, d := range t.Reads {
		names = append(append(names, d.Kind, d.Subject, d.Engine, d.To), d.Of...)
		if len(d.Of) > MaxOf {
			return ReportContent{}, fmt.Errorf("%w: report %d: a read of %d ids, at most %d", ErrForm, r.Number, len(d.Of), MaxOf)
		}
	}
	for _, n := range names {
		if len(n) > maxTold {
			return ReportContent{}, fmt.Errorf("%w: report %d: a name of %d bytes, at most %d", ErrForm, r.Number, len(n), maxTold)
		}
	}
	if len(t.Work) > maxWork || len(t.Reads) > MaxReads || min(t.Spent.Tokens, t.Spent.MicroUSD) < 0 {
		return ReportContent{}, fmt.Errorf("%w: report %d: %d kinds of work and %d reads", ErrForm, r.Number, len(t.Work), len(t.Reads))
	}
	return t, nil
}

func (r *Report) check() error {
	if r.Number == 0 || r.Text == "" || len(r.Text) > MaxReport || !utf8.ValidString(r.Text) {
		return fmt.Errorf("%w: report %d of %d bytes", ErrForm, r.Number, len(r.Text))
	}
	return nil
}
