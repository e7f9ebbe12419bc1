package worker

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/internal/testing/llmtest"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/sync/delta"
	"github.com/locket-dev/locket/wasm/plugins/speech/testdata/audio"
)

// hears is a whisper.cpp server that returns the given segments, of a second each, for any input.
func hears(t *testing.T, segments ...string) string {
	t.Helper()
	var parts []string
	for i, s := range segments {
		parts = append(parts, fmt.Sprintf(`{"start":%d,"end":%d,"text":%q,"avg_logprob":-0.1}`, i, i+1, s))
	}
	answer := fmt.Sprintf(`{"text":%q,"language":"english","segments":[%s]}`, strings.Join(segments, " "), strings.Join(parts, ","))
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, _, err := r.FormFile("file"); err != nil || r.Method != http.MethodPost || r.URL.Path != "/inference" || r.FormValue("response_format") != "verbose_json" {
			http.Error(w, "bad request", http.StatusBadRequest)
			return
		}
		fmt.Fprint(w, answer)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// lines returns what was said, as the owner has it.
func (o *owner) lines() (out []memory.Utterance) {
	o.t.Helper()
	o.ok(o.store.View(o.t.Context(), func(tx *store.Tx) error {
		for u, err := range tx.Utterances(time.Time{}, time.Time{}) {
			if err != nil {
				return err
			}
			out = append(out, *u)
		}
		return nil
	}))
	return out
}

// soon is a time at which the recordings of [owner.source] were just made.
func soon() time.Time { return time.Date(2026, 9, 14, 12, 0, 0, 0, time.UTC) }

// What a worker hears in a recording becomes lines of its own, about which the language model is
// asked like about the node's.
func TestModelIsAskedAboutTranscribedLines(t *testing.T) {
	relay := serveRelay(t)
	o := newOwner(t, relay)
	recording := o.source("audio/wav", audio.Speech(), "recording", "waiting")
	s := llmtest.New(t, llmtest.Options{})
	s.Otherwise(llmtest.Func(func(r *llmtest.Request) string {
		switch {
		case strings.Contains(r.System, "You decide who looks"):
			return `{"managers":["semantic"],"reason":"facts"}`
		case strings.Contains(r.System, "manager of semantic"):
			return `{"candidates":[{"message":2,"quote":"Bo works for Philips now","text":"Bo works for Philips","sensitivity":"personal","confidence":0.8,"relation":null}]}`
		case strings.Contains(r.System, "You tidy"):
			return `{"merges":[]}`
		case strings.Contains(r.System, "You compare"):
			return `{"decisions":[]}`
		}
		return `{"candidates":[]}`
	}))
	engines := modelled(s)
	engines.Speech, engines.WhisperURL = "", hears(t, "Good morning everybody", "Bo works for Philips now")
	home := joined(t, o, relay, delta.Grant{Types: []memory.Type{memory.Semantic, memory.Resource}, Transcribe: true})
	run(t, Config{Home: home, Engines: engines, Now: soon})
	m := o.until(func(m *memory.Memory) bool { return m.Source.Plugin == "worker/language" })
	lines := o.lines()
	if len(lines) != 2 || lines[1].Text != "Bo works for Philips now" || lines[1].At.Sub(lines[0].At) != time.Second || lines[0].Session == "" || lines[0].Session != lines[1].Session ||
		lines[0].Source.Model != "whisper.cpp" || lines[0].Source.Plugin != "worker/transcribe" {
		t.Fatalf("%+v", lines)
	}
	if m.Text != "Bo works for Philips" || m.Evidence[0].Utterance != lines[1].ID || m.Rank != memory.RankCloud {
		t.Errorf("%+v", m)
	}
	if got := o.answers(recording); len(got) != 1 || got[0].Text != "Good morning everybody Bo works for Philips now" {
		t.Errorf("%+v", got)
	}
	o.accepted()
}

// With a grant without transcription, the transcript is only stored as a resource.
func TestNoLinesWithoutTheTranscriptionGrant(t *testing.T) {
	relay := serveRelay(t)
	o := newOwner(t, relay)
	recording := o.source("audio/wav", audio.Speech(), "recording", "waiting")
	home := joined(t, o, relay, delta.Grant{Types: []memory.Type{memory.Resource}})
	run(t, Config{Home: home, Engines: Engines{Sight: "none", WhisperURL: hears(t, "Good morning everybody")}, Now: soon})
	if m := o.await(recording); m.Text != "Good morning everybody" || len(o.lines()) > 0 {
		t.Errorf("%+v, %+v", m, o.lines())
	}
	o.accepted()
}

// Two recordings with the same description and the same words have a transcript each.
func TestSameWordsInTwoRecordings(t *testing.T) {
	relay := serveRelay(t)
	o := newOwner(t, relay)
	of := []memory.ID{o.source("audio/wav", audio.Speech(), "recording", "waiting"), o.source("audio/wav", audio.Speech(), "recording", "waiting")}
	home := joined(t, o, relay, delta.Grant{Types: []memory.Type{memory.Resource}})
	run(t, Config{Home: home, Engines: Engines{Sight: "none", WhisperURL: hears(t, "Yes.")}, Now: soon})
	for _, id := range of {
		o.await(id)
		if got := o.answers(id); len(got) != 1 || got[0].State != memory.Active || got[0].Text != "Yes." {
			t.Errorf("%+v", got)
		}
	}
	o.accepted()
}

// A spoken secret that extends across the end of a segment is in no line.
func TestSecretAcrossSegments(t *testing.T) {
	relay := serveRelay(t)
	o := newOwner(t, relay)
	recording := o.source("audio/wav", audio.Speech(), "recording", "waiting")
	home := joined(t, o, relay, granted)
	for i, heard := range [][]string{{"The Wi-Fi password is", "HarborKite4471, ask at the desk"}, {"The card number is 4111 1111", "1111 1111 as you know"}} {
		if i > 0 {
			recording = o.source("audio/wav", audio.Speech(), "recording", "waiting")
		}
		_, _, stop := run(t, Config{Home: home, Engines: Engines{Sight: "none", WhisperURL: hears(t, heard...)}, Now: soon})
		m := o.await(recording)
		stop()
		if m.Metadata["redacted"] != "1" {
			t.Fatalf("%+v", m)
		}
	}
	lines := o.lines()
	if len(lines) == 0 || slices.ContainsFunc(lines, func(u memory.Utterance) bool {
		return strings.Contains(u.Text, "Kite") || strings.Contains(u.Text, "1111")
	}) {
		t.Errorf("%+v", lines)
	}
	o.accepted()
}

// If only known voices are kept, a worker proposes nothing from other voices.
func TestOnlyKnownVoices(t *testing.T) {
	relay := serveRelay(t)
	o := newOwner(t, relay)
	recording := o.source("audio/wav", audio.Speech(), "recording", "waiting", memory.KnownVoiceTag)
	home := joined(t, o, relay, granted)
	run(t, Config{Home: home, Engines: Engines{Sight: "none", WhisperURL: hears(t, "(speaker 0) Good morning everybody", "(speaker 1) My knee hurts", "(speaker 0) How are you")}, Now: soon})
	m := o.await(recording)
	lines := o.lines()
	if m.Text != "Good morning everybody How are you" || len(lines) != 2 || strings.Contains(fmt.Sprint(m, lines), "knee") {
		t.Errorf("%+v, %+v", m, lines)
	}
	o.accepted()
}
