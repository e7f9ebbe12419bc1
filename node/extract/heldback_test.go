package extract

import (
	"testing"
	"time"

	"github.com/locket-dev/locket/memory"
)

func TestRecordingsNearASecret(t *testing.T) {
	at := time.Date(2026, 9, 14, 10, 0, 0, 0, time.UTC)
	said := func(after time.Duration, redacted int) memory.Utterance {
		return memory.Utterance{At: at.Add(after), Redacted: redacted}
	}
	recording := func() *memory.Memory {
		return &memory.Memory{Candidate: memory.Candidate{TrueFrom: at, TrueTo: at.Add(5 * time.Second), Tags: []string{"recording"},
			Evidence: []memory.Evidence{{At: at}}, Sensitivity: memory.Private}}
	}
	for name, c := range map[string]struct {
		utterances []memory.Utterance
		change     func(*memory.Memory)
		want       bool
	}{
		"nothing was said":        {},
		"nothing secret was said": {utterances: []memory.Utterance{said(0, 0), said(time.Second, 0)}},
		"in the midst":            {utterances: []memory.Utterance{said(-time.Minute, 0), said(2*time.Second, 1)}, want: true},
		"10 s before":             {utterances: []memory.Utterance{said(-10*time.Second, 2)}, want: true},
		"10 s after":              {utterances: []memory.Utterance{said(15*time.Second, 1)}, want: true},
		"longer before":           {utterances: []memory.Utterance{said(-10*time.Second-1, 1)}},
		"longer after":            {utterances: []memory.Utterance{said(15*time.Second+1, 1)}},
		"a line of half a minute that an engine heard, 10 s before": {utterances: []memory.Utterance{{At: at.Add(-40 * time.Second), Redacted: 1, Source: memory.Source{Plugin: "engine/transcribe"}}}, want: true},
		"one that ended before":      {utterances: []memory.Utterance{{At: at.Add(-40*time.Second - 1), Redacted: 1, Source: memory.Source{Plugin: "engine/transcribe"}}}},
		"tagged":                     {change: func(m *memory.Memory) { m.Tags = append(m.Tags, SecretTag) }, want: true},
		"of the highest sensitivity": {change: func(m *memory.Memory) { m.Sensitivity = memory.Secret }, want: true},
		"times of the evidence alone": {change: func(m *memory.Memory) { m.TrueFrom, m.TrueTo = time.Time{}, time.Time{} },
			utterances: []memory.Utterance{said(9*time.Second, 1)}, want: true},
		"times of the evidence, and far": {change: func(m *memory.Memory) { m.TrueFrom, m.TrueTo = time.Time{}, time.Time{} },
			utterances: []memory.Utterance{said(11*time.Second, 1)}},
		"a recording without an end": {change: func(m *memory.Memory) { m.TrueTo = time.Time{} },
			utterances: []memory.Utterance{said(9*time.Second, 1)}, want: true},
	} {
		m := recording()
		if c.change != nil {
			c.change(m)
		}
		if got := mustHoldBack(m, c.utterances); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
