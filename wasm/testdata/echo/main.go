//go:build wasip1

// Command echo is a plugin for tests. It answers with one candidate that quotes the event's text,
// whose confidence falls with the number of spaces, or does what a single word asks for.
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
	spaces := 0
	for i := range len(e.Text) {
		if e.Text[i] == ' ' {
			spaces++
		}
	}
	if e.Text == "what is your name" {
		e.Text = guest.Name()
	}
	quote := e.Text[:min(len(e.Text), 100)]
	o.Candidates = append(o.Candidates, abi.Candidate{
		Type: "semantic", Text: strings.ToUpper(quote), Confidence: 1 / float64(1+spaces), Sensitivity: "personal",
		Spans: []abi.Span{{Start: 0, End: len(quote)}},
	})
	return nil
}

//go:noinline
func deep(s string) string { return deep(s+"x") + s }
