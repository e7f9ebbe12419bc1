package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/locket-dev/locket/memory/recall"
)

func TestReliability(t *testing.T) {
	if got := binned([]float64{0, .19, .2, recall.Unsure, .49, .95, 1}); !slices.Equal(got, []int{2, 1, 2, 0, 0, 0, 0, 2}) {
		t.Error(got)
	}
	var b bytes.Buffer
	each := []sureness{{found: []float64{.95, .95}, missed: []float64{.3}}, {found: []float64{.92}, missed: []float64{.99}, strange: []float64{.1}, unanswerable: []float64{.65}}}
	if err := printReliability(&b, each, false); err != nil {
		t.Fatal(err)
	}
	rows := strings.Split(strings.TrimSpace(b.String()), "\n")
	if len(rows) != len(binEnds) || !strings.Contains(rows[len(rows)-1], "3 found,   1 missed") || !strings.HasSuffix(rows[len(rows)-1], " 75.0 % of found and missed") || !strings.Contains(rows[0], "1 of another life") {
		t.Errorf("%s", b.String())
	}
}
