// Package engine runs what turns sound and pictures into words: programs on
// this machine, with limits, and services over HTTP.
//
// The words:
//
//   - An engine is such a program or service. Its input may be made to attack
//     it, and its output is not trusted.
//   - A [Command] is a program that runs once for each input, in its own
//     process group and folder, with limits on time, memory and output.
//   - A [Fault] is the failure of an engine on one input: its kind, and whether
//     another try may succeed.
package engine

import (
	"fmt"
	"time"
)

// Kind says how an engine failed.
type Kind string

// The kinds. The input may be the cause of Slow, Crashed, Babbled and Refused,
// but not of the others; see OfService.
const (
	Slow    Kind = "time"   // it used up its wall or processor time and was killed
	Crashed Kind = "crash"  // it ended by a signal or with an error
	Babbled Kind = "output" // its output is too long, or has a wrong format
	Refused Kind = "input"  // the engine, or Locket in its place, refuses this input
	Missing Kind = "missing"
	Barred  Kind = "key"         // a service wants a key, or refuses the one that it got
	Moved   Kind = "redirect"    // a service sends to another address, which is not followed
	Busy    Kind = "busy"        // a service asks to come again later
	Gone    Kind = "unreachable" // a service does not answer, or the connection broke
)

// Fault is a failure of an engine on one input.
type Fault struct {
	Engine string
	Kind   Kind
	Detail string        // in words, of at most [MaxDetail] bytes; may be empty
	After  time.Duration // Busy: when the service said to come again; 0: it did not say
}

// MaxDetail is how many bytes of an engine's message are kept.
const MaxDetail = 300

// Error names the engine and what happened.
func (f *Fault) Error() string {
	s := f.Engine + ": "
	switch f.Kind {
	case Barred, Moved:
		return s + f.Detail
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

// OfService reports whether the input is not the cause: the engine, or the way to it, is.
func (k Kind) OfService() bool {
	return k == Missing || k == Barred || k == Moved || k == Busy || k == Gone
}

// Temporary reports whether another try with the same input may succeed. If an
// engine, its key or its address is missing, somebody has to act.
func (f *Fault) Temporary() bool {
	return f.Kind != Refused && f.Kind != Missing && f.Kind != Barred && f.Kind != Moved
}

// WantsKey makes the fault of a service that wants a key, or refused the one that it got. said is
// what the service answered.
func WantsKey(engine string, keyed bool, said string) *Fault {
	if keyed {
		return Faultf(engine, Barred, "it refuses the key: %s", said)
	}
	return Faultf(engine, Barred, "it wants a key: %s", said)
}

// Faultf makes a fault with a formatted detail.
func Faultf(engine string, kind Kind, format string, args ...any) *Fault {
	return &Fault{Engine: engine, Kind: kind, Detail: Clip(fmt.Sprintf(format, args...))}
}
