//go:build wasip1

// Command echo is a plugin for tests: it answers with one candidate that
// holds the event's text, with its state counted up, and does what some
// words of the text ask for.
package main

import (
	"errors"
	"strings"

	"github.com/locket-dev/locket/wasm/abi"
	"github.com/locket-dev/locket/wasm/guest"
)

func init() { guest.Register(extract) }

func main() {}

var kept [][]byte

func extract(e *abi.Event, o *abi.Output) error {
	switch {
	case e.Text == "":
		return nil
	case e.Text == "fail":
		return errors.New("as asked")
	case e.Text == "panic":
		panic("as asked")
	case e.Text == "spin":
		for {
		}
	case e.Text == "eat":
		for {
			kept = append(kept, make([]byte, 1<<20))
		}
	case e.Text == "recurse":
		deep(e.Text)
	}
	o.Candidates = append(o.Candidates, abi.Candidate{
		Type: "semantic", Text: strings.ToUpper(e.Text), Confidence: 0.5, Sensitivity: "personal",
		Spans: []abi.Span{{Start: 0, End: len(e.Text)}},
	})
	return nil
}

//go:noinline
func deep(s string) string { return deep(s+"x") + s }
