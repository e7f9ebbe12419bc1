package main

import (
	"encoding/json"
	"fmt"
	"io"
)

// result is one line of a suite.
type result struct {
	Suite     string  `json:"suite"`
	Case      string  `json:"case"`
	N         int     `json:"n"` // of what was measured: lines, questions, events, …
	Value     float64 `json:"value"`
	Unit      string  `json:"unit"`
	Peer      string  `json:"peer,omitempty"`
	PeerValue float64 `json:"peer_value,omitempty"`
	Ratio     float64 `json:"ratio,omitempty"` // over 1: Locket is better
	Note      string  `json:"note,omitempty"`
}

// beside adds the result of a peer in the same run. more says that more is better.
func (r result) beside(peer string, value float64, more bool) result {
	if value > 0 && r.Value > 0 {
		r.Peer, r.PeerValue, r.Ratio = peer, value, round(value/r.Value)
		if more {
			r.Ratio = round(r.Value / value)
		}
	}
	return r
}

// printResults writes one JSON object per line, or a table.
func printResults(w io.Writer, results []result, asJSON bool) error {
	if asJSON {
		enc := json.NewEncoder(w)
		for _, r := range results {
			if err := enc.Encode(r); err != nil {
				return err
			}
		}
		return nil
	}
	for _, r := range results {
		fmt.Fprintf(w, "%-28s %12.3f %-8s of %d", r.Case, r.Value, r.Unit, r.N)
		if r.Peer != "" {
			fmt.Fprintf(w, "; %s %.3f, ratio %.2f", r.Peer, r.PeerValue, r.Ratio)
		}
		if r.Note != "" {
			fmt.Fprintf(w, " (%s)", r.Note)
		}
		if _, err := fmt.Fprintln(w); err != nil {
			return err
		}
	}
	return nil
}
