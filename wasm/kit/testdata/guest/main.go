//go:build wasip1

// A plugin that does what its mode says, which the kit has to detect. The test writes the mode over
// the mark in the built module.
package main

import (
	"strings"
	"unsafe"

	"github.com/locket-dev/locket/wasm/abi"
)

var mode = strings.TrimRight(mark[5:], " ")

var mark = strings.Clone("MODE:good            ")

var (
	in, out []byte
	event   abi.Event
	output  abi.Output
	kept    [][]byte
	calls   int
)

func main() {}

//go:wasmexport locket_abi
func version() uint32 { return abi.Version }

//go:wasmexport locket_alloc
func alloc(n uint32) uint32 {
	in = make([]byte, max(n, 1))
	return at(in)
}

func at(b []byte) uint32 { return uint32(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) }

//go:wasmexport locket_extract
func extract(_, n uint32) uint64 {
	in = in[:n]
	calls++
	switch mode {
	case "trusting": // reads at the place where a good event has its text
		if in[len(in)-1] == 0xff && len(in) > 20 || n == 0 {
			panic("trusted")
		}
	case "lax": // takes everything for an event
		if abi.DecodeEvent(in, &event) != nil {
			return 0
		}
	case "closed": // refuses what is unknown
		if len(in) > 10 && string(in[len(in)-10:len(in)-8]) == "\x18\x30" {
			return failed(abi.CodeUnknown)
		}
	case "leak":
		kept = append(kept, make([]byte, 64<<10))
	}
	if err := abi.DecodeEvent(in, &event); err != nil {
		return failed(err.(*abi.Error).Code)
	}
	output.Reset()
	add := func(text string, span abi.Span) {
		output.Candidates = append(output.Candidates, abi.Candidate{Type: "semantic", Text: text, Confidence: 0.5, Sensitivity: "personal", Spans: []abi.Span{span}})
	}
	for i := 0; i < len(event.Text); {
		n := strings.Index(event.Text[i:], "number")
		if n < 0 || len(output.Candidates) == abi.MaxCandidates && mode != "greedy" {
			break
		}
		i += n + 6
		add("a number", abi.Span{Start: i - 6, End: i})
	}
	switch mode {
	case "counts":
		if calls > 9 && event.Text != "" {
			add("I have been called a lot", abi.Span{Start: 0, End: len(event.Text)})
		}
	case "fails":
		return failed(abi.CodePlugin)
	case "outside":
		if event.Text != "" {
			add("evidence that nobody gave", abi.Span{Start: 0, End: len(event.Text) + 1})
		}
	case "loops":
		for len(event.Text) > 5000 {
			calls++
		}
	case "state":
		if len(event.State) > 0 && event.State[0] != 1 {
			panic("not my state")
		}
		output.State = append(output.State[:0], 1, 2, 3)
	}
	if output.Empty() {
		return 0
	}
	out = abi.AppendOutput(out[:0], &output)
	return uint64(at(out))<<32 | uint64(len(out))
}

func failed(c abi.Code) uint64 {
	out = abi.AppendError(out[:0], c, "no")
	return uint64(at(out))<<32 | 1<<31 | uint64(len(out))
}
