package engines

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/locket-dev/locket/internal/engine"
	"github.com/locket-dev/locket/wasm/plugins/speech/testdata/audio"
)

// If one language is set, ears are told it, unless the recording names its own.
func TestLanguageOfSpeech(t *testing.T) {
	var told string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		told = r.FormValue("language")
		_, _ = w.Write([]byte(`{"text":"a word","segments":[]}`))
	}))
	defer s.Close()
	for _, c := range []struct {
		langs      []string
		lang, want string
	}{{nil, "", "auto"}, {[]string{"de"}, "", "de"}, {[]string{"pt-BR"}, "", "pt"}, {[]string{"de", "en"}, "", "auto"}, {[]string{"de"}, "en", "en"}} {
		p := newProcess(t)
		p.Langs = c.langs
		if _, err := p.Do(t.Context(), Job{Spec: Spec{Kind: Ears, Engine: WhisperCPP, URL: s.URL}, Media: audio.Speech(), Lang: c.lang}); err != nil || told != c.want {
			t.Errorf("%v, %q: %q, want %q, %v", c.langs, c.lang, told, c.want, err)
		}
	}
}

// A program that does not know the wearer's languages says so when it is tried.
func TestLanguagesOfPrograms(t *testing.T) {
	for _, c := range []struct {
		spec  Spec
		langs []string
		want  string // part of the error
	}{
		{Spec{Kind: Ears, Engine: PocketSphinx}, []string{"de", "zh"}, "recognises only American English, but languages is de, zh"},
		{Spec{Kind: Ears, Engine: PocketSphinx}, []string{"de", "en-GB"}, ""},
		{Spec{Kind: Eyes, Engine: Tesseract}, []string{"en", "zh-CN"}, ""},
		{Spec{Kind: Eyes, Engine: Tesseract}, []string{"en", "is", "zh-TW"}, "install Debian's tesseract-ocr-isl, tesseract-ocr-chi-tra"}, // .ci/needs installs neither
	} {
		p := newProcess(t)
		p.Langs = c.langs
		_, err := Try(t.Context(), p, &c.spec, time.Now())
		if c.want == "" && err != nil || c.want != "" && (!errors.As(err, new(*engine.Fault)) || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s, %v: %v", c.spec.Engine, c.langs, err)
		}
	}
}
