package speech

import (
	"bytes"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/internal/engine"
	"github.com/locket-dev/locket/internal/testing/speechtest"
	"github.com/locket-dev/locket/wasm/plugins/speech/testdata/audio"
)

// whisperServer answers like the real ones, as far as a client can see, and records its requests.
type whisperServer struct {
	*httptest.Server
	path   string
	form   map[string]string
	file   []byte
	answer string
	status int
}

func serveWhisper(t *testing.T, answer string) *whisperServer {
	t.Helper()
	s := &whisperServer{answer: answer, status: 200}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.path, s.form = r.Method+" "+r.URL.Path, map[string]string{}
		if err := r.ParseMultipartForm(32 << 20); err != nil {
			http.Error(w, err.Error(), 400)
			return
		}
		for k, v := range r.MultipartForm.Value {
			s.form[k] = v[0]
		}
		f, _, err := r.FormFile("file")
		if err != nil {
			http.Error(w, `{"error":"no 'file' field in the request"}`, 400)
			return
		}
		defer f.Close()
		s.file, _ = io.ReadAll(f)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(s.status)
		io.WriteString(w, s.answer)
	}))
	t.Cleanup(s.Close)
	return s
}

// In the form of examples/server/server.cpp of whisper.cpp 1.7.
const verbose = `{"task":"transcribe","language":"english","duration":11.0,
"text":" And so my fellow Americans, ask not what your country can do for you,\n ask what you can do for your country.\n",
"segments":[{"id":0,"text":" And so my fellow Americans, ask not what your country can do for you,","start":0.0,"end":7.94,
"tokens":[400,370],"words":[{"word":" And","start":0.32,"end":0.5,"t_dtw":-1,"probability":0.7}],"temperature":0.0,"avg_logprob":-0.25,"no_speech_prob":0.01},
{"id":1,"text":" ask what you can do for your country.","start":7.94,"end":10.9,"tokens":[1],"words":[],"temperature":0.0,"avg_logprob":-0.5}]}`

func TestWhisperCPP(t *testing.T) {
	s := serveWhisper(t, verbose)
	w := &WhisperCPP{engine.Service{URL: s.URL + "/"}}
	wav := audio.Speech()
	got, err := w.Transcribe(t.Context(), wav, Hints{Names: []string{"Mei", "Shanghai"}})
	if err != nil {
		t.Fatal(err)
	}
	if e, n := speechtest.WordErrors(jfkSaid, got.Text); e != 0 || n != 22 {
		t.Errorf("%d of %d: %q", e, n, got.Text)
	}
	if got.Lang != "en" || len(got.Segments) != 2 || got.Segments[1].From != 7940*time.Millisecond ||
		math.Abs(got.Segments[0].Confidence-math.Exp(-0.25)) > 1e-9 {
		t.Errorf("%+v", got)
	}
	want := map[string]string{"response_format": "verbose_json", "temperature": "0.0", "language": "auto", "prompt": "Mei, Shanghai."}
	if s.path != "POST /inference" || !reflect.DeepEqual(s.form, want) || !bytes.Equal(s.file, wav) {
		t.Errorf("%s %v, %d bytes", s.path, s.form, len(s.file))
	}

	s.answer = `{"error":"failed to read audio data"}`
	_, err = w.Transcribe(t.Context(), wav, Hints{})
	fault(t, err, engine.Refused, "failed to read audio data")
}

func TestOpenAI(t *testing.T) {
	s := serveWhisper(t, verbose)
	o := &OpenAI{Service: engine.Service{URL: s.URL + "/v1", Key: "k"}}
	if _, err := o.Transcribe(t.Context(), audio.Speech(), Hints{Lang: "en-US"}); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"model": "whisper-1", "response_format": "verbose_json", "timestamp_granularities[]": "segment", "temperature": "0", "language": "en"}
	if s.path != "POST /v1/audio/transcriptions" || !reflect.DeepEqual(s.form, want) {
		t.Errorf("%s %v", s.path, s.form)
	}
	s.answer = `{"text":"And so","usage":{"type":"tokens"}}`
	o.Model, o.Service.URL = "gpt-4o-transcribe", s.URL
	got, err := o.Transcribe(t.Context(), audio.Speech(), Hints{})
	if err != nil || got.Text != "And so" || got.Confidence() != Unknown {
		t.Fatalf("%+v, %v", got, err)
	}
	if s.path != "POST /v1/audio/transcriptions" || s.form["response_format"] != "json" || o.Name() != "openai gpt-4o-transcribe" {
		t.Errorf("%s %v", s.path, s.form)
	}
}

// An answer that is small, but would be large once each segment has its words, or whose segments
// say more than a transcript may, is refused before that is computed.
func TestThreatHostileEars(t *testing.T) {
	many := func(n int, s string) string { return strings.TrimSuffix(strings.Repeat(s+",", n), ",") }
	word, all := `{"word":"a","start":1,"end":2}`, `{"start":0,"end":9,"text":"a"}`
	for name, answer := range map[string]string{
		"each segment has all words": `{"text":"a","segments":[` + many(20_000, all) + `],"words":[` + many(90_000, word) + `]}`,
		"too many segments":          `{"text":"a","segments":[` + many(200_000, all) + `],"words":[` + many(1000, word) + `]}`,
		"segments that say more":     `{"text":"a","segments":[` + many(2000, `{"text":"`+strings.Repeat("x", 1000)+`"}`) + `]}`,
	} {
		o := &OpenAI{Service: engine.Service{URL: serveWhisper(t, answer).URL}}
		if got, err := o.Transcribe(t.Context(), audio.Speech(), Hints{}); err == nil {
			t.Errorf("%s: %d segments", name, len(got.Segments))
		} else {
			fault(t, err, engine.Babbled, "")
		}
	}
}

func TestWhisperNonsense(t *testing.T) {
	for answer, kind := range map[string]engine.Kind{
		`{}`:         engine.Babbled,
		`[]`:         engine.Babbled,
		`null`:       engine.Babbled,
		`{"text":3}`: engine.Babbled,
		`{"text":"a","segments":[{"start":-1,"end":2,"text":"a"}]}`:    engine.Babbled,
		`{"text":"a","segments":[{"start":0,"end":1e300,"text":"a"}]}`: engine.Babbled,
		`{"text":"a","segments":[{"start":5,"end":2,"text":"a"}]}`:     engine.Babbled,
		`{"error":{"message":"bad","type":"invalid_request_error"}}`:   engine.Refused,
	} {
		s := serveWhisper(t, answer)
		_, err := (&OpenAI{Service: engine.Service{URL: s.URL}}).Transcribe(t.Context(), audio.Speech(), Hints{})
		fault(t, err, kind, "")
	}
	s := serveWhisper(t, `{"text":"a","segments":[{"start":0,"end":1,"text":"a","avg_logprob":5}]}`)
	got, err := (&WhisperCPP{engine.Service{URL: s.URL}}).Transcribe(t.Context(), audio.Speech(), Hints{})
	if err != nil || got.Confidence() != 1 {
		t.Fatalf("%+v, %v", got, err)
	}
}
