// Package engine runs what turns sound and pictures into words: programs on
// this machine, under limits, and services over HTTP.
//
// The words:
//
//   - An engine is one such program or service. What it is given may be made to
//     harm it, and what it answers is not trusted.
//   - A [Command] is a program that is run once for each input, in a process
//     group and a folder of its own, with limits on time, memory and output.
//   - A [Fault] is a failure of an engine on one input: what kind, and whether
//     the same input may fare better later.
package engine

import (
	"fmt"
	"time"
)

// Kind says how an engine failed.
type Kind string

// The kinds. Of the first three the input may be at fault, of the last three
// it is not.
const (
	Slow    Kind = "time"   // it ran out of wall or processor time, and was killed
	Crashed Kind = "crash"  // it ended by a signal or with an error
	Babbled Kind = "output" // what it said is too long, or not in its format
	Refused Kind = "input"  // it, or we for it, won't take this input
	Missing Kind = "missing"
	Busy    Kind = "busy"        // a service asks us to come again
	Gone    Kind = "unreachable" // a service doesn't answer, or breaks off
)

// Fault is a failure of an engine on one input.
type Fault struct {
	Engine string
	Kind   Kind
	Detail string        // in words, of at most [MaxDetail] bytes; may be empty
	After  time.Duration // Busy: when the service said to come again; 0: it didn't
}

// MaxDetail is the most that is kept of what an engine says about its failure.
const MaxDetail = 300

// Error names the engine and what happened.
func (f *Fault) Error() string {
	s := f.Engine + ": "
	switch f.Kind {
	case Slow:
		s += "out of time"
	case Crashed:
		s += "crashed"
	case Babbled:
		s += "its output can't be used"
	case Refused:
		s += "does not take this input"
	case Missing:
		s += "is missing"
	case Busy:
		s += "is busy"
	case Gone:
		s += "does not answer"
	default:
		s += string(f.Kind)
	}
	if f.Detail != "" {
		s += ": " + f.Detail
	}
	return s
}

// Temporary reports whether the same input should be tried again, and may then
// succeed. A missing engine is not temporary: somebody has to do something.
func (f *Fault) Temporary() bool { return f.Kind != Refused && f.Kind != Missing }

// Faultf makes a fault whose detail is a format.
func Faultf(engine string, kind Kind, format string, args ...any) *Fault {
	return &Fault{Engine: engine, Kind: kind, Detail: Clip(fmt.Sprintf(format, args...))}
}
