package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/internal/engine"
	"github.com/locket-dev/locket/internal/engine/result"
	"github.com/locket-dev/locket/internal/engine/speech"
	"github.com/locket-dev/locket/internal/testing/llmtest"
	"github.com/locket-dev/locket/internal/testing/speechtest"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/config"
	"github.com/locket-dev/locket/node/engines"
	"github.com/locket-dev/locket/node/serve"
)

var evening = time.Date(2026, 9, 14, 19, 0, 0, 0, time.UTC)

// An engine beside the node hears waiting recordings. The words become a line with
// evidence, which extractors read; a secret goes to the vault and nowhere else; the
// session continues; and each recording gets its words once.
func TestLocalSpeechEngine(t *testing.T) {
	s := speechtest.Whisper(t)
	n := newNode(t, nil)
	sounds(t, n, evening)
	e := addEngine(t, n, "ears", s.URL)
	if e.Engine != engines.WhisperCPP || !e.Local || e.Sample == nil || e.Sample.Words != 5 || e.Waiting != 1 {
		t.Fatalf("%+v", e)
	}
	s.Says(says("Lena is allergic to peanuts."))
	if err := n.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	eventually(t, "words", func() bool { return engineOfKind(t, n, "ears").Done == 1 })
	lines := heardBy(t, n)
	if len(lines) != 1 || lines[0].Text != "Lena is allergic to peanuts." || lines[0].Source.Model != "whisper.cpp" || lines[0].Event.Device != "pin" || !lines[0].At.Equal(lines[0].At.Truncate(time.Millisecond)) {
		t.Fatalf("%+v", lines)
	}
	hits := search(t, n, serve.SearchRequest{Query: "Lena allergic peanuts"})
	if !slices.ContainsFunc(hits, func(h serve.Hit) bool { return h.Memory != nil && h.Memory.Type == memory.Semantic }) {
		t.Errorf("no extractor read the line: %+v", hits)
	}
	s.Says(says("The wifi password is tulip-42-harbor."))
	sounds(t, n, evening.Add(time.Minute))
	eventually(t, "the next words", func() bool { return engineOfKind(t, n, "ears").Done == 2 })
	if lines = heardBy(t, n); len(lines) != 2 || lines[1].Redacted == 0 || lines[0].Session != lines[1].Session {
		t.Errorf("%+v", lines)
	}
	secrets := 0
	for r, err := range n.Export(t.Context(), serve.ExportOptions{}) {
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(r.Data), "tulip-42") {
			t.Errorf("the export has %s", r.Data)
		}
		if strings.Contains(string(r.Data), `"type":"vault"`) {
			secrets++
		}
	}
	if secrets == 0 {
		t.Error("the secret is not in the vault")
	}
	s.Says(says(""))
	sounds(t, n, evening.Add(2*time.Minute))
	eventually(t, "no words", func() bool { return engineOfKind(t, n, "ears").Done == 3 })
	if st, err := n.Status(t.Context()); err != nil || st.Journal.Transcribe != 0 || len(st.Engines) != 1 || st.Engines[0].Waiting != 0 {
		t.Errorf("%+v, %v", st, err)
	}
	if got := len(s.Heard()); got != 4 || len(heardBy(t, n)) != 2 { // the sample, and each recording once
		t.Errorf("%d recordings were sent", got)
	}
	if left, err := n.RemoveEngine(t.Context(), serve.RemoveEngineRequest{Kind: "ears"}); err != nil || len(left) != 0 {
		t.Errorf("%+v, %v", left, err)
	}
	if _, err := n.RemoveEngine(t.Context(), serve.RemoveEngineRequest{Kind: "ears"}); !errors.Is(err, memory.ErrNotFound) {
		t.Errorf("%v", err)
	}
	if err := n.Stop(context.Background()); err != nil {
		t.Error(err)
	}
}

// An engine on another machine needs consent once, and gets nothing that was recorded
// near a secret.
func TestEngineOnAnotherMachine(t *testing.T) {
	s := speechtest.Whisper(t)
	t.Setenv("HTTP_PROXY", s.URL) // this is how it is reached
	t.Setenv("NO_PROXY", "")
	n := running(t, nil)
	r := serve.AddEngineRequest{Kind: "ears", Address: "http://speech.example:80"}
	if _, err := n.AddEngine(t.Context(), r); !errors.Is(err, serve.ErrConflict) || !strings.Contains(err.Error(), "your recordings") {
		t.Fatalf("%v", err)
	}
	hear(t, n, evening, "Ana", "The wifi password is tulip-42-harbor.")
	sounds(t, n, evening.Add(15*time.Second)) // these are within ten seconds of the secret
	sounds(t, n, evening.Add(5*time.Second))
	sounds(t, n, evening.Add(time.Hour))
	r.Consent = true
	e, err := n.AddEngine(t.Context(), r)
	if err != nil || e.Local || e.Consent.IsZero() {
		t.Fatalf("%+v, %v", e, err)
	}
	eventually(t, "what may go", func() bool {
		e := engineOfKind(t, n, "ears")
		return e.Done == 2 && e.Held == 1 && e.Waiting == 0
	})
	if got := len(s.Heard()); got != 3 {
		t.Errorf("%d recordings were sent, with the sample", got)
	}
}

// A photo is sent to eyes on another machine only after the local ears have heard what
// was said around it, because that may be a secret.
func TestPhotoWaitsForTranscription(t *testing.T) {
	s := speechtest.Whisper(t)
	n := running(t, nil)
	addEngine(t, n, "ears", s.URL)
	s.Fails(func(w http.ResponseWriter) bool { w.WriteHeader(http.StatusServiceUnavailable); return true })
	sounds(t, n, evening)
	for i, at := range []time.Time{evening.Add(5 * time.Second), evening.Add(time.Hour)} {
		comesEvent(t, n, memory.Event{ID: memory.EventID{Device: "glasses", Boot: 1, Seq: uint64(i + 1)}, Kind: memory.KindPhoto, At: at, Received: at, Clock: memory.ClockWall, Codec: "png", Data: file(t, "note.png")})
	}
	waits := func() (out []bool) {
		err := n.view(t.Context(), func(_ *session, tx *store.Tx) error {
			out = nil
			ids, err := engines.Waiting(tx, result.Read)
			for _, id := range ids {
				m, err := tx.Memory(id)
				if err != nil {
					return err
				}
				w, err := engines.HasPendingAudio(tx, m)
				if err != nil {
					return err
				}
				if near := result.StartOf(m).Before(evening.Add(time.Minute)); near || w {
					out = append(out, w && near)
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	eventually(t, "the photo waits", func() bool { return fmt.Sprint(waits()) == "[true]" })
	s.Fails(nil)
	eventually(t, "it was heard", func() bool { return fmt.Sprint(waits()) == "[false]" })
}

// While an engine is away everything waits, and is processed once it is back. What it
// refuses is parked, and tried again when it is chosen again.
func TestEngineUnreachable(t *testing.T) {
	s := speechtest.Whisper(t)
	n := running(t, nil)
	addEngine(t, n, "ears", s.URL)
	s.Fails(func(w http.ResponseWriter) bool { fmt.Fprint(w, "<html>back soon"); return true }) // the page of a proxy
	sounds(t, n, evening)
	eventually(t, "trouble", func() bool { return engineOfKind(t, n, "ears").Trouble != "" })
	if e := engineOfKind(t, n, "ears"); e.Waiting != 1 || e.Parked != 0 || e.Retry.IsZero() {
		t.Errorf("%+v", e)
	}
	s.Fails(nil)
	eventually(t, "words", func() bool {
		e := engineOfKind(t, n, "ears")
		return e.Done == 1 && e.Trouble == "" && e.Retry.IsZero()
	})
	s.Fails(func(w http.ResponseWriter) bool { fmt.Fprint(w, `{"error":"failed to process audio"}`); return true })
	sounds(t, n, evening.Add(time.Minute))
	eventually(t, "parking", func() bool { return engineOfKind(t, n, "ears").Parked == 1 })
	if e := engineOfKind(t, n, "ears"); e.Waiting != 0 || len(e.Reasons) != 1 || !strings.Contains(e.Reasons[0], "failed to process") {
		t.Errorf("%+v", e)
	}
	s.Fails(nil)
	addEngine(t, n, "ears", s.URL)
	eventually(t, "the words of what was parked", func() bool { e := engineOfKind(t, n, "ears"); return e.Done == 1 && e.Parked == 0 })
	if lines := heardBy(t, n); len(lines) != 2 {
		t.Errorf("%+v", lines)
	}
}

// An engine that does not answer a sample is not added, and an invalid address is
// reported.
func TestInvalidEnginesAreRefused(t *testing.T) {
	n := newNode(t, nil)
	answers := func(status int, body string) string {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Location", "http://192.0.2.1/login")
			w.WriteHeader(status)
			io.WriteString(w, body)
		}))
		t.Cleanup(s.Close)
		return s.URL
	}
	for _, c := range []struct {
		kind, address, model string
		want                 error
		says                 string
	}{
		{"ears", answers(200, "<html>Router</html>"), "", serve.ErrEngine, " answers 200 OK: a page of HTML"},
		{"mind", answers(200, "<html>Router</html>"), "m", serve.ErrEngine, " answers 200: a page of HTML"},
		{"ears", answers(500, "boom"), "", serve.ErrEngine, " answers 500 Internal Server Error: boom"},
		{"ears", answers(404, "no such page"), "", serve.ErrEngine, " answers 404 Not Found: no such page"},
		{"eyes", answers(404, `{"error": {"message": "model m not found"}}`), "m", serve.ErrEngine, ": address, key or model are wrong: 404: model m not found"},
		{"ears", answers(302, ""), "", serve.ErrEngine, " sends us to http://192.0.2.1/login, where nothing was sent: 302 Found"},
		{"ears", answers(401, ""), "", serve.ErrEngine, " wants a key: 401 Unauthorized"},
		{"eyes", answers(403, ""), "m", serve.ErrEngine, " wants a key: 403: Forbidden"},
		{"ears", "http://127.0.0.1:9", "", serve.ErrEngine, "does not answer"},
		{"ears", "127.0.0.1:8080", "", memory.ErrInvalid, "want a URL"},
		{"ears", "gopher://127.0.0.1", "", memory.ErrInvalid, "want a URL"},
		{"ears", "tesseract", "", memory.ErrInvalid, "want a URL"},
		{"eyes", "pocketsphinx", "", memory.ErrInvalid, "want a URL"},
		{"eyes", "http://127.0.0.1:9", "", memory.ErrInvalid, "model"},
		{"mind", "http://127.0.0.1:9", "m", serve.ErrEngine, "does not answer"},
	} {
		if _, err := n.AddEngine(t.Context(), serve.AddEngineRequest{Kind: c.kind, Address: c.address, Model: c.model}); !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) || strings.Count(err.Error(), "want") > 1 {
			t.Errorf("%s %s: %v", c.kind, c.address, err)
		}
	}
	if all, err := n.Engines(t.Context()); err != nil || len(all) != 0 {
		t.Errorf("%+v, %v", all, err)
	}
}

// An engine whose answer is far from what the sample says is not added, unless the wearer wants it
// anyway.
func TestMisheardSampleIsRefused(t *testing.T) {
	n, s := newNode(t, nil), speechtest.Whisper(t)
	r := serve.AddEngineRequest{Kind: "ears", Address: s.URL}
	for _, c := range []struct{ heard, reported string }{
		{"la la la", `heard "la la la"`},
		{" ", "heard nothing"},
	} {
		s.Says(says(c.heard))
		want := s.URL + " " + c.reported + `, but the sample says "and so my fellow Americans"`
		if _, err := n.AddEngine(t.Context(), r); !errors.Is(err, serve.ErrEngine) || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
		if all, err := n.Engines(t.Context()); err != nil || len(all) != 0 {
			t.Errorf("%+v, %v", all, err)
		}
	}
	r.Anyway = true
	s.Says(says(" "))
	if e, err := n.AddEngine(t.Context(), r); err != nil || e.Sample == nil || e.Sample.Words != 0 || e.Sample.Said != "and so my fellow Americans" {
		t.Errorf("%+v, %v", e.Sample, err)
	}
	s.Says(says("And so my fellow Americans"))
	if all, err := n.TryEngines(t.Context()); err != nil || len(all) != 1 || all[0].Sample.Said != "" || all[0].Sample.Words != 5 {
		t.Errorf("%+v, %v", all, err)
	}
}

// PocketSphinx is not offered if nobody speaks English, because it would write wrong
// words.
func TestEnginesAreOfferedByLanguage(t *testing.T) {
	for langs, want := range map[string]bool{"": true, "de": false, "de,en": true} {
		n := newNode(t, func(c *config.Config) { c.Languages = strings.FieldsFunc(langs, func(r rune) bool { return r == ',' }) })
		found, err := n.FoundEngines(t.Context(), "ears")
		if got := slices.ContainsFunc(found, func(f serve.FoundEngine) bool { return f.Engine == "pocketsphinx" }); err != nil || got != want {
			t.Errorf("where %q is spoken, PocketSphinx is found: %v; %v", langs, got, err)
		}
	}
}

// Tesseract reads photos beside the node: printed text becomes a memory that is linked to
// its photo, and a photo without print is looked at once.
func TestLocalVisionEngine(t *testing.T) {
	n := running(t, nil)
	for i, name := range []string{"note.png", "cat.jpg"} {
		at := evening.Add(time.Duration(i) * time.Hour)
		codec := map[string]string{".png": "png", ".jpg": "jpeg"}[filepath.Ext(name)]
		comesEvent(t, n, memory.Event{ID: memory.EventID{Device: "glasses", Boot: 1, Seq: uint64(i + 1)}, Kind: memory.KindPhoto, At: at, Received: at, Clock: memory.ClockWall, Codec: codec, Data: file(t, name)})
	}
	addEngine(t, n, "eyes", "tesseract")
	eventually(t, "both were looked at", func() bool { e := engineOfKind(t, n, "eyes"); return e.Done == 2 && e.Waiting == 0 })
	hits := search(t, n, serve.SearchRequest{Query: "book swap"})
	if len(hits) == 0 || hits[0].Memory == nil || hits[0].Memory.Source.Model != "tesseract" || hits[0].Memory.Links[0].Relation != "print_of" || hits[0].Memory.Rank != memory.RankDevice {
		t.Fatalf("%+v", hits)
	}
	r, err := n.Doctor(t.Context(), false)
	i := slices.IndexFunc(r.Findings, func(f serve.Finding) bool { return f.Check == "programs" })
	if words, whole := engine.Confinement(); err != nil || i < 0 || r.Findings[i].Detail != "tesseract: "+words || whole != (r.Findings[i].Level == serve.LevelOK) {
		t.Errorf("doctor says %+v of what programs may do here, %q: %v", r.Findings, words, err)
	}
	addEngine(t, n, "eyes", "tesseract") // nothing is read twice
	if e := engineOfKind(t, n, "eyes"); e.Waiting != 0 {
		t.Errorf("%+v", e)
	}
}

// A mind that is chosen finds memories in what is said from then on, and is not asked any
// more once it is removed.
func TestLocalLanguageModel(t *testing.T) {
	t.Parallel()
	s := llmtest.New(t, llmtest.Options{})
	s.Otherwise(operations(op{"quote": "Lena breeds grey parrots", "text": "Lena breeds grey parrots"}))
	n := running(t, nil)
	e, err := n.AddEngine(t.Context(), serve.AddEngineRequest{Kind: "mind", Address: s.URL, Model: s.Model()})
	if err != nil || e.Kind != "mind" || e.Sample == nil {
		t.Fatalf("%+v, %v", e, err)
	}
	hear(t, n, evening, "Ana", "Lena breeds grey parrots in Antwerp")
	eventually(t, "a memory", func() bool { return byModel(t, n)["Lena breeds grey parrots"].Source.Plugin == "llm" })
	if _, err := n.RemoveEngine(t.Context(), serve.RemoveEngineRequest{Kind: "mind"}); err != nil {
		t.Fatal(err)
	}
	hear(t, n, evening.Add(time.Minute), "Ana", "Bo breeds white doves in Ghent")
	if st, err := n.Model(t.Context()); err != nil || st.URL != "" || st.Waiting != 0 {
		t.Errorf("%+v, %v", st, err)
	}
}

// A secret that is told in two turns of a recording is in neither line, nor in what was
// made from the first.
func TestSecretAcrossTurns(t *testing.T) {
	n := newNode(t, nil)
	sounds(t, n, evening)
	o, release, err := n.use()
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	var id memory.ID
	err = n.view(t.Context(), func(_ *session, tx *store.Tx) error {
		ids, err := engines.Waiting(tx, "transcribe")
		id = ids[0]
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	a := result.Answer{Kind: result.Transcribe, Engine: "whisper.cpp", Text: "x", Segments: []speech.Segment{
		{Speaker: "A", Text: "Bo, remember that tulip-42-harbor is what I typed."}, {From: 4 * time.Second, Speaker: "B", To: 5 * time.Second, Text: "Oh, so the wifi password is tulip-42-harbor."}}}
	if err := o.engines.StoreAnswer(t.Context(), &a, id); err != nil {
		t.Fatal(err)
	}
	if lines := heardBy(t, n); len(lines) != 2 || lines[0].Speaker != "A" || lines[1].Speaker != "B" || !lines[1].At.Equal(lines[0].At.Add(4*time.Second)) {
		t.Errorf("%+v", lines)
	}
	for r, err := range n.Export(t.Context(), serve.ExportOptions{}) {
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(r.Data), "so the wifi password is tulip-42") {
			t.Errorf("the export has %s", r.Data)
		}
	}
	if err := o.engines.StoreAnswer(t.Context(), &a, id); !errors.Is(err, memory.ErrNotFound) {
		t.Errorf("words came twice: %v", err)
	}
}

// If an engine claims that something was said eleven days into a recording, the line does
// not get that time, and what is said today does not become past because of it.
func TestImplausibleTimesOfAnEngine(t *testing.T) {
	n := newNode(t, nil)
	sounds(t, n, evening)
	o, release, err := n.use()
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	var ids []memory.ID
	err = n.view(t.Context(), func(_ *session, tx *store.Tx) (err error) {
		ids, err = engines.Waiting(tx, "transcribe")
		return err
	})
	if err != nil || len(ids) != 1 {
		t.Fatal(ids, err)
	}
	a := result.Answer{Kind: result.Transcribe, Engine: "whisper.cpp", Text: "x", Segments: []speech.Segment{
		{Speaker: "A", Text: "Lena is allergic to peanuts."}, {From: 999_999 * time.Second, To: 999_999 * time.Second, Speaker: "B", Text: "Bo breeds white doves."}}}
	if err := o.engines.StoreAnswer(t.Context(), &a, ids[0]); err != nil {
		t.Fatal(err)
	}
	lines := heardBy(t, n)
	if len(lines) != 2 || lines[1].At.After(evening.Add(12*time.Second)) || lines[1].Session != lines[0].Session {
		t.Errorf("%+v", lines)
	}
	if got := o.latest(); got.After(evening.Add(12 * time.Second)) {
		t.Errorf("the latest that was said is of %s", got)
	}
}
