package questions

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/filter"
	"github.com/locket-dev/locket/node/serve"
)

func TestQuestion(t *testing.T) {
	for text, want := range map[string]string{
		"Hey Locket, when is the dentist?": "when is the dentist?", "hey locket when is the dentist": "when is the dentist",
		"Locket, where is the kayak?": "where is the kayak?", "Okay, Lockett. Where is it?": "Where is it?", "Hey lock it who was that": "who was that",
		"Hey Locket.": "", "Hey Locket": "",
	} {
		if got, ok := question(text); !ok || got != want {
			t.Errorf("%s: %q, %v", text, got, ok)
		}
	}
	for _, text := range []string{"", "Locket is nice", "I told Hey Locket about it", "The locket, it is gold", "Hey Lockette, come", "He locked it, yes"} {
		if got, ok := question(text); ok {
			t.Errorf("%s: %q", text, got)
		}
	}
}

type fleet struct {
	deaf bool
	said []string
}

func (f *fleet) CanAnswer(device string) bool { return !f.deaf && device != "mute" }

func (f *fleet) HasMicrophone(device string) bool { return device != "screen" }

func (f *fleet) Say(device, text string) error {
	f.said = append(f.said, device+": "+text)
	return nil
}

// What counts as a question, and what does not.
func TestParseQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fleet{}
		var asks []string
		var served int
		q := New(Config{
			Fleet: func() Fleet { return f },
			Ask: func(_ context.Context, r serve.AskRequest) (serve.AskResult, error) {
				asks = append(asks, r.Question)
				if r.Question == "fail" {
					return serve.AskResult{}, errors.New("no")
				}
				own := memory.Utterance{Event: memory.EventID{Device: "glasses", Seq: 9}}
				if r.Question == "mine" && r.Filters.Match(&filter.Item{Utterance: &own}) {
					t.Error("the question answers itself")
				}
				return serve.AskResult{Known: r.Question != "unknown", Evidence: []serve.ContextItem{{Text: "The dentist\nis on Tuesday."}}}, nil
			},
			OnServed: func(time.Time, ...string) { served++ },
			Now:      time.Now, Log: slog.New(slog.DiscardHandler),
		})
		ctx, stop := context.WithCancel(t.Context())
		go q.Run(ctx)
		press := func(device string) {
			q.OnCommitted(&memory.Event{ID: memory.EventID{Device: device}, Kind: memory.KindButton, At: time.Now(), Values: []float64{1}}, nil)
		}
		line := func(device, text string, ago time.Duration) {
			at := time.Now().Add(-ago)
			q.OnCommitted(&memory.Event{ID: memory.EventID{Device: device, Seq: 9}, Kind: memory.KindAudio, At: at}, []memory.Utterance{{At: at, Text: text}})
			synctest.Wait()
		}
		line("glasses", "nothing was asked", 0)
		press("glasses")
		line("glasses", "after a press", 0)
		line("glasses", "and no more", 0)
		press("glasses")
		line("pendant", "heard by another", 0)
		press("glasses")
		time.Sleep(20 * time.Second)
		line("glasses", "too late", 0)
		line("glasses", "Hey Locket, by name", 0)
		line("glasses", "Hey Locket.", 0)
		time.Sleep(3 * time.Second)
		line("glasses", "mine", 0)
		line("glasses", "Hey Locket, long ago", 2*time.Minute)
		line("mute", "Hey Locket, of one that can't tell", 0)
		line("glasses", "Hey Locket, unknown", 0)
		line("glasses", "Hey Locket, fail", 0)
		q.OnCommitted(&memory.Event{ID: memory.EventID{Device: "glasses"}, Kind: memory.KindButton, At: time.Now(), Values: []float64{3}}, nil)
		line("glasses", "a long press asks nothing", 0)
		stop()
		synctest.Wait()
		if want := []string{"after a press", "heard by another", "by name", "mine", "unknown", "fail"}; !slices.Equal(asks, want) {
			t.Errorf("asked %q", asks)
		}
		const dentist = "glasses: The dentist is on Tuesday."
		if want := []string{dentist, dentist, dentist, dentist, "glasses: I don't know."}; !slices.Equal(f.said, want) || served != 5 {
			t.Errorf("said %q, served %d", f.said, served)
		}
	})
}

func TestSpoken(t *testing.T) {
	ev := []serve.ContextItem{{Text: "a"}, {Text: "b"}, {Text: "c"}}
	for want, r := range map[string]serve.AskResult{
		"On Tuesday.":   {Known: true, Answer: "On Tuesday [abcdefghij].", Cited: true, Evidence: ev},
		"a\nb":          {Known: true, Answer: "In Rome.", Evidence: ev},
		"I don't know.": {Evidence: ev},
	} {
		if got := SpokenText(&r); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Anyone who finds a wearable can ask it. The answer contains nothing secret.
func TestThreatFoundWearableAsks(t *testing.T) {
	a := asked{question: "what is the code", line: memory.ID{1}}
	heard := []memory.Evidence{{Event: memory.EventID{Device: "glasses", Seq: 1}}}
	for name, c := range map[string]memory.Candidate{
		"of the vault":     {Type: memory.Vault, Evidence: heard},
		"typed by hand":    {Type: memory.Vault},
		"with a secret":    {Type: memory.Semantic, Fields: memory.Fields{Vault: &memory.VaultFields{}}, Evidence: heard},
		"marked as secret": {Type: memory.Semantic, Sensitivity: memory.Secret, Evidence: heard},
	} {
		if a.others(&filter.Item{Memory: &memory.Memory{Candidate: c}}) {
			t.Errorf("a memory %s answers", name)
		}
	}
	if !a.others(&filter.Item{Memory: &memory.Memory{Candidate: memory.Candidate{Type: memory.Semantic, Sensitivity: memory.Private, Evidence: heard}}}) {
		t.Error("an ordinary memory does not answer")
	}
}
