package engines

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/internal/engine"
	"github.com/locket-dev/locket/internal/engine/result"
	"github.com/locket-dev/locket/internal/engine/speech"
	"github.com/locket-dev/locket/internal/engine/trial"
	"github.com/locket-dev/locket/internal/testing/long"
	"github.com/locket-dev/locket/internal/testing/speechtest"
	"github.com/locket-dev/locket/wasm/plugins/speech/testdata/audio"
)

func TestMain(m *testing.M) {
	if IsProcess(os.Args) {
		os.Exit(ServeProcess(os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

func newProcess(t *testing.T) *Process {
	t.Helper()
	command, err := Self()
	if err != nil {
		t.Fatal(err)
	}
	p := &Process{Command: command, Runs: t.TempDir()}
	t.Cleanup(p.Close)
	return p
}

// Addresses that a person may type, and what is wrong with invalid ones.
func TestParseSpec(t *testing.T) {
	for _, c := range []struct {
		spec  Spec
		wrong string
		local bool
	}{
		{Spec{Kind: Ears, Engine: PocketSphinx}, "", true},
		{Spec{Kind: Ears, Engine: PocketSphinx, URL: "http://a"}, "takes no address", false},
		{Spec{Kind: Eyes, Engine: PocketSphinx}, "none for eyes", true},
		{Spec{Kind: Ears, Engine: WhisperCPP, URL: "http://127.0.0.1:8080"}, "", true},
		{Spec{Kind: Ears, Engine: WhisperCPP, URL: "http://[::1]:8080"}, "", true},
		{Spec{Kind: Ears, Engine: WhisperCPP, URL: "http://localhost:8080"}, "", true},
		{Spec{Kind: Ears, Engine: WhisperCPP, URL: "http://127.0.0.1.example:8080"}, "", false},
		{Spec{Kind: Ears, Engine: WhisperCPP, URL: "http://localhost.example"}, "", false},
		{Spec{Kind: Ears, Engine: WhisperCPP, URL: "http://192.168.1.5:8080"}, "", false},
		{Spec{Kind: Ears, Engine: WhisperCPP, URL: "http://user@127.0.0.1"}, "want http", true},
		{Spec{Kind: Ears, Engine: WhisperCPP, URL: "ftp://127.0.0.1"}, "want http", true},
		{Spec{Kind: Ears, Engine: Wyoming, URL: "tcp://127.0.0.1"}, "no port", true},
		{Spec{Kind: Ears, Engine: Wyoming, URL: "http://127.0.0.1:1"}, "want tcp", true},
		{Spec{Kind: Mind, Engine: Language, URL: "http://127.0.0.1:1/v1"}, "model", true},
		{Spec{Kind: Mind, Engine: Language, URL: "http://127.0.0.1:1/v1", Model: "m", Key: "a\nb"}, "line end", true},
	} {
		err := c.spec.Check()
		if (err != nil) != (c.wrong != "") || err != nil && (!errors.Is(err, ErrSpec) || !strings.Contains(err.Error(), c.wrong)) {
			t.Errorf("%+v: %v, want %q", c.spec, err, c.wrong)
		}
		if got := c.spec.Local(); got != c.local {
			t.Errorf("%+v: on this machine: %v", c.spec, got)
		}
	}
}

// The programs that are used as ears and eyes if there is nothing better, run for real, in a
// separate process that leaves nothing behind.
func TestRealPrograms(t *testing.T) {
	p := newProcess(t)
	ears := Spec{Kind: Ears, Engine: PocketSphinx}
	s, err := Try(t.Context(), p, &ears, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if wrong, n := speechtest.WordErrors(trial.Said, s.Text); wrong > n/2 || s.Words == 0 || s.Factor <= 0 || s.Said != "" {
		t.Errorf("%+v", s)
	}
	eyes := Spec{Kind: Eyes, Engine: Tesseract}
	if s, err = Try(t.Context(), p, &eyes, time.Now()); err != nil || !strings.Contains(s.Text, "BOOK SWAP") || s.Said != "" {
		t.Errorf("%+v, %v", s, err)
	}
	left, err := os.ReadDir(p.Runs)
	if err != nil || len(left) != 0 {
		t.Errorf("%v, %v", left, err)
	}
	for name, media := range map[string][]byte{"no sound": audio.Speech()[:44], "cut off in its header": audio.Speech()[:20], "nothing": {}, "HTML": []byte("<html>")} {
		_, err := p.Do(t.Context(), Job{Spec: ears, Media: media})
		if f := (*engine.Fault)(nil); !errors.As(err, &f) || f.Kind != engine.Refused {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// pid returns the id of the process, or 0 if none is running.
func (p *Process) pid() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.run == nil {
		return 0
	}
	return p.run.cmd.Process.Pid
}

// If a process dies during a job, only that job fails. KILLS sets how many are killed.
func TestKilledProcess(t *testing.T) {
	p, s := newProcess(t), speechtest.Whisper(t)
	j := Job{Spec: Spec{Kind: Ears, Engine: WhisperCPP, URL: s.URL}, Media: audio.Speech()}
	if a, err := p.Do(t.Context(), j); err != nil || a.Text == "" || a.Kind != result.Transcribe {
		t.Fatalf("%+v, %v", a, err)
	}
	for range long.Kills(t, 1) {
		pid := p.pid()
		s.Says(func([]byte) string {
			if p, err := os.FindProcess(pid); err != nil || p.Kill() != nil {
				t.Errorf("it was not killed: %v", err)
			}
			return "late"
		})
		_, err := p.Do(t.Context(), j)
		if f := (*engine.Fault)(nil); !errors.As(err, &f) || f.Kind != engine.Crashed || !f.Temporary() {
			t.Fatalf("%v", err)
		}
		s.Says(func([]byte) string { return "again" })
		if a, err := p.Do(t.Context(), j); err != nil || a.Text != "again" || p.pid() == pid {
			t.Fatalf("%+v, %v", a, err)
		}
	}
}

// Possible answers of a service, and how they are handled.
func TestInvalidAnswers(t *testing.T) {
	p, s := newProcess(t), speechtest.Whisper(t)
	for name, c := range map[string]struct {
		answer func(http.ResponseWriter)
		kind   engine.Kind
	}{
		"HTML":    {func(w http.ResponseWriter) { fmt.Fprint(w, "<html>sign in</html>") }, engine.Gone},
		"nothing": {func(http.ResponseWriter) {}, engine.Babbled},
		"100 MB": {func(w http.ResponseWriter) {
			for range 100 {
				if _, err := w.Write(make([]byte, 1<<20)); err != nil {
					return
				}
			}
		}, engine.Babbled},
		"busy":   {func(w http.ResponseWriter) { w.WriteHeader(http.StatusServiceUnavailable) }, engine.Busy},
		"no key": {func(w http.ResponseWriter) { w.WriteHeader(http.StatusUnauthorized) }, engine.Barred},
		"redirect": {func(w http.ResponseWriter) {
			w.Header().Set("Location", "http://example.com/")
			w.WriteHeader(http.StatusFound)
		}, engine.Moved},
		"twice": {func(w http.ResponseWriter) { fmt.Fprint(w, `{"text":"a"}{"text":"b"}`) }, engine.Babbled},
	} {
		s.Fails(func(w http.ResponseWriter) bool { c.answer(w); return true })
		_, err := p.Do(t.Context(), Job{Spec: Spec{Kind: Ears, Engine: WhisperCPP, URL: s.URL}, Media: audio.Speech()})
		if f := (*engine.Fault)(nil); !errors.As(err, &f) || f.Kind != c.kind {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// An engine's answer is compared with what the sample says. Weak engines pass, such as PocketSphinx,
// whose real answer is among these.
func TestAnswerIsComparedWithTheSample(t *testing.T) {
	for _, c := range []struct {
		says, heard string
		far         bool
	}{
		{trial.Said, "And so, my fellow Americans,", false},
		{trial.Said, "and i know my fellow americans", false}, // PocketSphinx
		{trial.Said, "AND SO MY FELLOW-AMERICANS ASK NOT", false},
		{trial.Said, "and so my fellow amerikans", false},
		{trial.Said, "", true},
		{trial.Said, "...", true},
		{trial.Said, "you", true},
		{trial.Said, "and so", true},
		{trial.Said, "Thank you for watching!", true},
		{trial.Said, "The weather is nice today.", true},
		{trial.Said, "今天天气很好", true},
		{trial.Said, strings.Repeat("And so my fellow Americans. ", 1000), true},
		{trial.Printed, "LANE 128 BOOK SWAP Saturday 26 September Open from two until five in the courtyard Bring two books， take two home. Teafrom Mrs. Shen", false}, // Tesseract, with Chinese
		{trial.Printed, "LANE 128", true},
	} {
		if got := far(c.says, c.heard); got != c.far {
			t.Errorf("%.60q for %.20q: %v", c.heard, c.says, got)
		}
	}
	p, s := newProcess(t), speechtest.Whisper(t)
	for heard, want := range map[string]string{"la la la": trial.Said, " And so my fellow Americans.": ""} {
		s.Says(func([]byte) string { return heard })
		v, err := Try(t.Context(), p, &Spec{Kind: Ears, Engine: WhisperCPP, URL: s.URL}, time.Now())
		if err != nil || v.Said != want {
			t.Errorf("%+v, %v", v, err)
		}
	}
}

// A mind that wants a key, or is at another address, says so like the other engines.
func TestModelWithoutKey(t *testing.T) {
	p := newProcess(t)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/moved") {
			http.Redirect(w, r, "http://elsewhere.invalid/v1/chat?token=secret", http.StatusMovedPermanently)
			return
		}
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprint(w, `{"error":{"message":"You didn't provide an API key."}}`)
	}))
	defer s.Close()
	for _, c := range []struct {
		spec Spec
		kind engine.Kind
		want string
	}{
		{Spec{Kind: Mind, Engine: Language, URL: s.URL, Model: "small"}, engine.Barred, "small: it wants a key: 401: You didn't provide an API key."},
		{Spec{Kind: Mind, Engine: Language, URL: s.URL, Model: "small", Key: "sk-1"}, engine.Barred, "small: it refuses the key: 401: You didn't provide an API key."},
		{Spec{Kind: Eyes, Engine: Vision, URL: s.URL, Model: "small"}, engine.Barred, "vision small: it wants a key: 401: You didn't provide an API key."},
		{Spec{Kind: Mind, Engine: Language, URL: s.URL + "/moved", Model: "small"}, engine.Moved, "small: it sends us to http://elsewhere.invalid/v1/chat, where nothing was sent: 301 Moved Permanently"},
	} {
		_, err := Try(t.Context(), p, &c.spec, time.Now())
		if f := (*engine.Fault)(nil); !errors.As(err, &f) || f.Kind != c.kind || f.Error() != c.want {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}

// The engine at an address is determined by what answers there.
func TestDetectEngine(t *testing.T) {
	p, whisper, openai := newProcess(t), speechtest.Whisper(t), speechtest.OpenAI(t, "k")
	first := func(address, model, key string) string {
		for _, s := range Guess(t.Context(), Ears, address, model, key) {
			if s.Check() != nil {
				continue
			}
			if _, err := Try(t.Context(), p, &s, time.Now()); err == nil {
				return s.Name()
			}
		}
		return ""
	}
	for _, c := range []struct{ address, model, key, want string }{
		{whisper.URL, "", "", "whisper.cpp"},
		{whisper.URL + "/", "", "", "whisper.cpp"},
		{openai.URL, "", "k", "openai whisper-1"},
		{openai.URL + "/v1", "whisper-1", "k", "openai whisper-1"},
		{openai.URL + "/v1", "whisper-2", "k", ""},
		{openai.URL, "", "wrong", ""},
		{PocketSphinx, "", "", "pocketsphinx en-us"},
	} {
		if got := first(c.address, c.model, c.key); got != c.want {
			t.Errorf("%s %s: %q, want %q", c.address, c.model, got, c.want)
		}
	}
}

// Engines on this machine are found, and no data of the wearer is sent to them.
func TestFindLocalEngines(t *testing.T) {
	whisper, openai := speechtest.Whisper(t), speechtest.OpenAI(t, "")
	ollama := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.Method + " " + r.URL.Path {
		case "GET /api/tags":
			fmt.Fprint(w, `{"models":[{"name":"qwen3:8b"},{"name":"qwen2.5vl:7b"},{"name":"nomic-embed-text"}]}`)
		case "POST /api/show":
			b := make([]byte, 200)
			n, _ := r.Body.Read(b)
			switch {
			case strings.Contains(string(b[:n]), "qwen3"):
				fmt.Fprint(w, `{"capabilities":["completion","tools"]}`)
			case strings.Contains(string(b[:n]), "vl"):
				fmt.Fprint(w, `{"capabilities":["completion","vision"]}`)
			default:
				fmt.Fprint(w, `{"capabilities":["embedding"]}`)
			}
		default:
			http.NotFound(w, r)
		}
	}))
	defer ollama.Close()
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>another program") }))
	defer page.Close()
	asr, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer asr.Close()
	go func() {
		for {
			c, err := asr.Accept()
			if err != nil {
				return
			}
			data := `{"asr":[{"name":"faster-whisper"}],"tts":[]}`
			fmt.Fprintf(c, "{\"type\":\"info\",\"version\":\"1.5.4\",\"data_length\":%d}\n%s", len(data), data)
			c.Close()
		}
	}()
	at := Places{Whisper: []string{page.URL, whisper.URL}, Speech: []string{page.URL, openai.URL}, Wyoming: []string{asr.Addr().String()}, Ollama: []string{page.URL, ollama.URL}, Llama: []string{page.URL}}
	at.Announced = func(context.Context) []netip.AddrPort {
		return []netip.AddrPort{netip.MustParseAddrPort(asr.Addr().String()), netip.MustParseAddrPort("127.0.0.2:1")} // a duplicate counts once; the third one is gone
	}
	var got []string
	for _, kind := range Kinds {
		for _, s := range Discover(t.Context(), kind, at) {
			if s.Kind != kind || !s.Local() || s.Check() != nil {
				t.Errorf("%+v, %v", s, s.Check())
			}
			got = append(got, string(kind)+" "+s.Name())
		}
	}
	want := "ears whisper.cpp, ears openai whisper-1, ears wyoming, ears pocketsphinx en-us, eyes tesseract, eyes vision qwen2.5vl:7b, mind qwen3:8b, mind qwen2.5vl:7b"
	if strings.Join(got, ", ") != want {
		t.Errorf("%s", strings.Join(got, ", "))
	}
	if len(whisper.Heard())+len(openai.Heard()) != 0 {
		t.Error("something was sent")
	}
	if list := Discover(t.Context(), Mind, Places{Ollama: []string{"http://127.0.0.1:1"}, Llama: []string{page.URL}}); len(list) != 0 {
		t.Errorf("%+v", list)
	}
}

// A line for each turn of a speaker, or a single one if speakers are not told apart.
func TestLinesPerSpeaker(t *testing.T) {
	seg := func(speaker, text string) speech.Segment { return speech.Segment{Speaker: speaker, Text: text} }
	for want, a := range map[string]result.Answer{
		"":                  {Text: " \n"},
		"one":               {Text: " one "},
		"one two":           {Text: "one two", Segments: []speech.Segment{seg("", "one"), seg("", "two")}},
		"A:one two|B:three": {Text: "A: one two\nB: three", Segments: []speech.Segment{seg("A", "one"), seg("A", " "), seg("A", "two"), seg("B", "three")}},
	} {
		var got []string
		for _, s := range Turns(&a) {
			if s.Speaker != "" {
				s.Text = s.Speaker + ":" + s.Text
			}
			got = append(got, s.Text)
		}
		if strings.Join(got, "|") != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
