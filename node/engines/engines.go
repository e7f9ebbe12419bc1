// Package engines gives a node ears, eyes and a mind that run beside it, with
// no relay between.
//
// The words:
//
//   - An engine is a program or a service that turns a recording into words, or
//     a photo into print or a caption. A [Spec] says which one it is.
//   - Ears hear recordings, eyes see photos, and a mind is a language model. Of
//     ears and mind there is one each; of eyes one that reads and one that sees.
//   - A [Process] is this program once more. It does the work, so that a crash
//     or a large picture is not the node's.
//   - A [Queue] takes what waits in the records to an engine, a source at a
//     time. It keeps no records of its own but those of sources that are parked:
//     what waits follows from the records.
package engines

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/locket-dev/locket/internal/clientaddr"
	"github.com/locket-dev/locket/internal/engine"
	"github.com/locket-dev/locket/internal/engine/result"
	"github.com/locket-dev/locket/internal/engine/sight"
	"github.com/locket-dev/locket/internal/engine/speech"
	"github.com/locket-dev/locket/internal/llm"
)

// ErrSpec: no engine matches the request.
var ErrSpec = errors.New("no such engine")

// Kind is what an engine does for the wearer.
type Kind string

// The kinds.
const (
	Ears Kind = "ears" // hear recordings
	Eyes Kind = "eyes" // read or see photos
	Mind Kind = "mind" // a language model
)

// Kinds are all kinds.
var Kinds = []Kind{Ears, Eyes, Mind}

// The engines.
const (
	PocketSphinx = "pocketsphinx" // a program
	WhisperCPP   = "whisper.cpp"  // its server
	OpenAI       = "openai"       // speech over HTTP
	Wyoming      = "wyoming"      // speech over TCP
	Tesseract    = "tesseract"    // a program
	Vision       = "vision"       // a model that sees, OpenAI-compatible
	Language     = "llm"          // a language model, OpenAI-compatible
)

// Spec is an engine that the wearer has chosen.
type Spec struct {
	Kind   Kind   `json:"kind"`
	Engine string `json:"engine"`
	// URL is http(s)://HOST[:PORT][/v1], or tcp://HOST:PORT for Wyoming. It is
	// empty for a program.
	URL   string `json:"url,omitempty"`
	Model string `json:"model,omitempty"`
	Key   string `json:"key,omitempty"` // sent as a bearer token; empty: none

	Consent time.Time `json:"consent,omitzero"` // when the wearer consented, if the engine is not on this machine
	Added   time.Time `json:"added,omitzero"`
	Sample  *Sample   `json:"sample,omitempty"` // its answer when it was last tried
}

// Work returns the kind of work that an engine does with a source. It is empty for a mind,
// which works on lines.
func (s *Spec) Work() result.Kind {
	switch s.Engine {
	case PocketSphinx, WhisperCPP, OpenAI, Wyoming:
		return result.Transcribe
	case Tesseract:
		return result.Read
	case Vision:
		return result.Caption
	}
	return ""
}

// same reports whether one engine replaces the other.
func (s *Spec) same(o *Spec) bool { return s.Kind == o.Kind && s.Work() == o.Work() }

// Name returns the engine's name in a memory's source, in the form that a worker would
// use.
func (s *Spec) Name() string {
	switch s.Engine {
	case PocketSphinx:
		return (&speech.PocketSphinx{}).Name()
	case OpenAI:
		return (&speech.OpenAI{Model: s.Model}).Name()
	case Wyoming:
		return (&speech.Wyoming{Model: s.Model}).Name()
	case Vision:
		return sight.Vision(s.Model)
	case Language:
		return s.Model
	}
	return s.Engine
}

// host returns the machine that receives what the engine works on. It is empty for a
// program.
func (s *Spec) host() string {
	u, err := url.Parse(s.URL)
	if err != nil {
		return s.URL
	}
	return u.Host
}

// Local reports whether the engine is on this machine: a program, or a service
// at a loopback address.
func (s *Spec) Local() bool {
	if s.URL == "" {
		return true
	}
	u, err := url.Parse(s.URL)
	if err != nil {
		return false
	}
	return clientaddr.Loopback(u.Hostname())
}

// IsAddress reports whether an address is a URL of a scheme that engines speak.
func IsAddress(address string) bool {
	scheme, _, ok := strings.Cut(address, "://")
	return ok && (scheme == "http" || scheme == "https" || scheme == "tcp")
}

// Check returns an error if a spec is invalid; the error names the field.
func (s *Spec) Check() error {
	kind := map[string]Kind{PocketSphinx: Ears, WhisperCPP: Ears, OpenAI: Ears, Wyoming: Ears, Tesseract: Eyes, Vision: Eyes, Language: Mind}[s.Engine]
	switch {
	case kind == "" || kind != s.Kind:
		return fmt.Errorf("%w: engine: %q is none for %s", ErrSpec, s.Engine, s.Kind)
	case (s.Engine == PocketSphinx || s.Engine == Tesseract) && (s.URL != "" || s.Model != "" || s.Key != ""):
		return fmt.Errorf("%w: engine: %s is a program, and takes no address, model or key", ErrSpec, s.Engine)
	case s.Engine == PocketSphinx || s.Engine == Tesseract:
		return nil
	case strings.ContainsAny(s.Key, "\r\n"):
		return fmt.Errorf("%w: key: it has a line end in it", ErrSpec)
	case (s.Engine == Vision || s.Engine == Language) && s.Model == "":
		return fmt.Errorf("%w: model: name one", ErrSpec)
	}
	schemes := []string{"http", "https"}
	if s.Engine == Wyoming {
		schemes = []string{"tcp"}
	}
	u, err := url.Parse(s.URL)
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || u.Scheme != schemes[0] && u.Scheme != schemes[len(schemes)-1] {
		return fmt.Errorf("%w: url: %.80q: want %s://HOST:PORT", ErrSpec, s.URL, schemes[0])
	}
	if s.Engine == Wyoming && u.Port() == "" {
		return fmt.Errorf("%w: url: %.80q has no port", ErrSpec, s.URL)
	}
	return nil
}

// speech makes the engine that hears. runs is the folder in which each run of a program
// gets its own folder.
func (s *Spec) speech(runs string) speech.Engine {
	switch s.Engine {
	case WhisperCPP:
		return &speech.WhisperCPP{Service: engine.Service{URL: s.URL, Key: s.Key}}
	case OpenAI:
		return &speech.OpenAI{Service: engine.Service{URL: s.URL, Key: s.Key}, Model: s.Model}
	case Wyoming:
		return &speech.Wyoming{Address: s.host(), Model: s.Model}
	}
	return &speech.PocketSphinx{Command: engine.Command{Dir: runs}}
}

func (s *Spec) reader(runs string, langs []string) *sight.Tesseract {
	return &sight.Tesseract{Command: engine.Command{Dir: runs}, Langs: sight.TesseractNames(langs)}
}

// LacksLanguages reports whether the engine is a program that hears none of the languages that are
// spoken around the wearer, BCP 47. If there are none, they are unknown, and the result is
// false.
func (s *Spec) LacksLanguages(langs []string) bool {
	return s.Engine == PocketSphinx && len(langs) > 0 && !slices.ContainsFunc(langs, speech.English)
}

// suits returns an error if a program does not suit a wearer around whom these languages
// are spoken, BCP 47. It returns nil if there are none.
func (s *Spec) suits(ctx context.Context, langs []string) error {
	if len(langs) == 0 {
		return nil
	}
	switch s.Engine {
	case PocketSphinx:
		if s.LacksLanguages(langs) {
			return engine.Faultf(s.Name(), engine.Refused, "it recognises only American English, but languages is %s", strings.Join(langs, ", "))
		}
	case Tesseract:
		_, lack, err := s.reader("", langs).Languages(ctx)
		if err != nil {
			return err
		}
		if len(lack) > 0 {
			return engine.Faultf(s.Name(), engine.Missing, "it has none of the languages %s: install Debian's tesseract-ocr-%s, or change languages", strings.Join(lack, ", "), strings.ReplaceAll(strings.Join(lack, ", tesseract-ocr-"), "_", "-"))
		}
	}
	return nil
}

// only returns the language of everything that is said, if there is only one.
func only(langs []string) string {
	if len(langs) == 1 {
		return langs[0]
	}
	return ""
}

func (s *Spec) vision() (*llm.Client, error) {
	return llm.New(llm.Config{URL: speech.V1(s.URL), Model: s.Model, Key: s.Key, Timeout: seeTime, Tries: 1})
}

// seeTime is how long a model may look at a photo.
const seeTime = 3 * time.Minute
