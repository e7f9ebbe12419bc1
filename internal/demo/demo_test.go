package demo

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/locket-dev/locket/internal/testing/plugincache"
)

var cache string

func TestMain(m *testing.M) {
	plugincache.Run(func(dir string) (int, error) {
		cache = dir
		return m.Run(), nil
	})
}

// The result of testdata/day matches its expectations, and is told in words.
func TestDay(t *testing.T) {
	var out bytes.Buffer
	if err := Run(t.Context(), &out, Options{Cache: cache}); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	for _, s := range []string{"What arrived", "What was remembered", "What was refused", "Where the secrets went", "Three questions", "What the node uses", "Everything came out"} {
		if !strings.Contains(out.String(), s) {
			t.Errorf("the transcript does not say %q", s)
		}
	}
}

// So do the results of other days, with other names, places, secrets and dates: nothing is made for
// the one day.
func TestGeneratedDays(t *testing.T) {
	for _, seed := range []uint64{1001, 1002, 1003, 1004, 1005} {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			var out bytes.Buffer
			if err := Run(t.Context(), &out, Options{Seed: seed, Cache: cache}); err != nil {
				t.Errorf("%v\n%s", err, out.String())
			}
		})
	}
}

func TestJSON(t *testing.T) {
	var out bytes.Buffer
	if err := Run(t.Context(), &out, Options{JSON: true, Cache: cache}); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	var steps []string
	for s := bufio.NewScanner(&out); s.Scan(); {
		var step struct {
			Step string `json:"step"`
			OK   *bool  `json:"ok"`
		}
		if err := json.Unmarshal(s.Bytes(), &step); err != nil {
			t.Fatalf("%v: %s", err, s.Text())
		}
		steps = append(steps, step.Step)
		if step.Step == "verdict" && (step.OK == nil || !*step.OK) {
			t.Errorf("verdict: %s", s.Text())
		}
	}
	if got := strings.Join(steps, " "); got != "arrived remembered refused secret questions memory verdict" {
		t.Errorf("steps: %s", got)
	}
}
