package speech

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/locket-dev/locket/internal/engine"
)

// Speakers are read in each server's format, and their marks do not count as words.
func TestSpeakers(t *testing.T) {
	for _, c := range []struct{ name, answer, want, text string }{
		{"whisperx", `{"text":"Hi. Yes.","segments":[{"start":0,"end":1,"text":"Hi.","speaker":"SPEAKER_00"},{"start":1,"end":2,"text":"Yes.","words":[{"word":"Yes.","start":1,"end":2,"speaker":"SPEAKER_01"}]}]}`,
			"SPEAKER_00: Hi.|SPEAKER_01: Yes.", "Hi. Yes."},
		{"a number", `{"text":"Hi. Yes.","segments":[{"start":0,"end":1,"text":"Hi.","speaker":0},{"start":1,"end":2,"text":"Yes.","speaker":1}]}`, "0: Hi.|1: Yes.", "Hi. Yes."},
		{"tinydiarize", `{"text":" Hi. [SPEAKER_TURN] Yes. And you?","segments":[{"start":0,"end":1,"text":" Hi. [SPEAKER_TURN]"},{"start":1,"end":2,"text":" Yes."},{"start":2,"end":3,"text":" And you?"}]}`,
			"turn 1: Hi.|turn 2: Yes. And you?", "Hi.  Yes. And you?"},
		{"diarize", `{"text":"(speaker 0) Hi.(speaker ?) Yes.","segments":[{"start":0,"end":1,"text":"(speaker 0) Hi."},{"start":1,"end":2,"text":"(speaker ?) Yes."}]}`, "0: Hi.|Yes.", "Hi. Yes."},
		{"nobody", `{"text":"Hi. (speaker of the house) Yes.","segments":[{"start":0,"end":1,"text":"Hi. (speaker of the house) Yes.","speaker":null}]}`, "Hi. (speaker of the house) Yes.", "Hi. (speaker of the house) Yes."},
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.Write([]byte(c.answer))
		}))
		got, err := (&WhisperCPP{Service: engine.Service{URL: s.URL}}).Transcribe(t.Context(), plainWAV(make([]byte, 32000)), Hints{})
		s.Close()
		if turns := strings.ReplaceAll(got.Turns(), "\n", "|"); err != nil || turns != c.want || got.Text != c.text {
			t.Errorf("%s: %q, %q, %v", c.name, turns, got.Text, err)
		}
	}
}
