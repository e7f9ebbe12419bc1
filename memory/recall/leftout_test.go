package recall

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestWeightChangesAreRecorded: whoever changes a weight, the lexicon or the pairs of words has to
// measure the change on conversations that had no part in the choice, and add a line to
// testdata/left-out.txt, which says how.
func TestWeightChangesAreRecorded(t *testing.T) {
	b, err := os.ReadFile("testdata/left-out.txt")
	if err != nil {
		t.Fatal(err)
	}
	last, lines := "", 0
	for line := range strings.Lines(string(b)) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		f := strings.Fields(line)
		if len(f) < 6 {
			t.Fatalf("%q: want a fingerprint, a day, recall at 5, 10 and 25, and what changed", line)
		}
		for _, v := range f[2:5] {
			if n, err := strconv.ParseFloat(v, 64); err != nil || n <= 0 || n > 100 {
				t.Fatalf("%q: %s is no recall in per cent", line, v)
			}
		}
		last, lines = f[0], lines+1
	}
	lexicon, pairs := wordFiles(t)
	if now := fingerprint(t, DefaultWeights(), lexicon, pairs); last != now {
		t.Errorf("the weights or the lexicon are %s, and the last that were measured %s: add a line to testdata/left-out.txt", now, last)
	}
	if lines < 2 {
		t.Errorf("%d lines: what it was before is missing", lines)
	}
	seen := []string{fingerprint(t, DefaultWeights(), lexicon, pairs), fingerprint(t, handWeights(), lexicon, pairs),
		fingerprint(t, DefaultWeights(), lexicon+" ", pairs), fingerprint(t, DefaultWeights(), lexicon, pairs+" ")}
	if slices.Sort(seen); len(slices.Compact(seen)) != 4 {
		t.Errorf("a change is not seen: %v", seen)
	}
}

// fingerprint stays the same as long as no weight and no word changes.
func fingerprint(t *testing.T, w Weights, files ...string) string {
	t.Helper()
	b, err := json.Marshal(w)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256([]byte(string(b) + "\x00" + strings.Join(files, "\x00")))
	return hex.EncodeToString(sum[:6])
}
