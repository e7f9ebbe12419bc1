package extract

import (
	"errors"
	"strings"
	"testing"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/wasm/abi"
)

// moody is a plugin that may be disabled, and whose events may or may not wait.
type moody struct {
	script
	disabled, patient bool
}

func (m *moody) DefersEvents(error) bool { return m.patient && m.disabled }

func newMoody(patient bool) *moody {
	m := &moody{patient: patient, script: script{id: "moody", kinds: "text sensor"}}
	m.answer = func(ev *abi.Event) (abi.Output, error) {
		switch {
		case m.disabled:
			return abi.Output{}, errors.New("disabled")
		case strings.Contains(ev.Text, "poison"):
			return abi.Output{}, errors.New("trapped")
		}
		return abi.Output{Candidates: []abi.Candidate{{Type: "episodic", Text: "Moody about " + ev.Text + ev.Name, Confidence: .9}}}, nil
	}
	return m
}

// TestEventsWaitForADisabledPlugin: while a plugin is disabled, events are processed without it,
// and are given to it afterwards, in order, once; if its manifest says skip,
// they are not.
func TestEventsWaitForADisabledPlugin(t *testing.T) {
	for _, patient := range []bool{true, false} {
		m, other := newMoody(patient), &script{id: "other", kinds: "text", answer: nothing}
		b := newBench(t, m, other)
		m.disabled = true
		b.must(b.text("a heron"))
		b.must(b.text("poison"))
		reading := b.event(memory.KindSensor)
		reading.Name, reading.Values = "pulse", []float64{61}
		b.must(reading)
		if len(other.saw) != 2 {
			t.Fatalf("the other plugin saw %d of 2 events", len(other.saw))
		}
		want := map[bool]int{true: 3}[patient]
		if n, err := b.x.Deferred(t.Context(), "moody"); err != nil || n != want {
			t.Fatalf("%d wait, want %d, %v", n, want, err)
		}
		// It is still disabled, so they keep waiting.
		if patient {
			if _, err := b.x.CatchUp(t.Context(), b.w, m, 10); err != nil {
				t.Fatal(err)
			}
			if n, _ := b.x.Deferred(t.Context(), "moody"); n != 3 {
				t.Errorf("%d wait after a try while it is disabled", n)
			}
		}
		m.disabled, m.saw = false, nil
		res, err := b.x.CatchUp(t.Context(), b.w, m, 10)
		if err != nil || len(m.saw) != want {
			t.Fatalf("%+v, %v: it saw %d", res, err, len(m.saw))
		}
		if !patient {
			continue
		}
		if m.saw[0].Text != "a heron" || m.saw[2].Name != "pulse" || m.saw[2].Values[0] != 61 || len(res.Changes) != 2 || res.Faults != 1 {
			t.Errorf("%+v, saw %+v", res, m.saw)
		}
		if n, _ := b.x.Deferred(t.Context(), "moody"); n != 0 {
			t.Errorf("%d wait when all is done", n)
		}
		if res, err = b.x.CatchUp(t.Context(), b.w, m, 10); err != nil || res.Events != 0 {
			t.Errorf("again: %+v, %v", res, err)
		}
		if all := b.everything(); !strings.Contains(all, "Moody about a heron") || !strings.Contains(all, "Moody about pulse") {
			t.Errorf("%s", all)
		}
	}
}

// TestRemovedPluginHasNoWaitingEvents: nothing waits for a plugin that was removed.
func TestRemovedPluginHasNoWaitingEvents(t *testing.T) {
	m := newMoody(true)
	b := newBench(t, m)
	m.disabled = true
	b.must(b.text("a heron"))
	if err := b.x.ForgetPlugin(t.Context(), b.w, "moody", []string{"pin"}); err != nil {
		t.Fatal(err)
	}
	if n, err := b.x.Deferred(t.Context(), "moody"); err != nil || n != 0 {
		t.Errorf("%d wait, %v", n, err)
	}
}
