package worker

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/locket-dev/locket/cloud/worker/queue"
	"github.com/locket-dev/locket/internal/engine"
	"github.com/locket-dev/locket/internal/engine/cost"
	"github.com/locket-dev/locket/internal/engine/sight"
	"github.com/locket-dev/locket/internal/engine/speech"
	"github.com/locket-dev/locket/internal/llm"
)

// Engines says which engines to use. The zero value uses the programs in the
// PATH: PocketSphinx and Tesseract.
type Engines struct {
	// Speech is "pocketsphinx", "whisper.cpp", "openai", "wyoming" or "none".
	// If it is empty, the first of whisper.cpp, openai and wyoming that has an
	// address is used, and PocketSphinx if none has.
	Speech       string
	WhisperURL   string // of whisper.cpp's server: http://127.0.0.1:8080
	OpenAIURL    string // of an OpenAI-compatible service, with or without /v1
	OpenAIKey    string
	OpenAIModel  string // empty: whisper-1
	Wyoming      string // host:port
	WyomingModel string
	SphinxModel  string // folder; empty: Debian's

	Sight       string   // "tesseract" or "none"; empty: tesseract
	Langs       []string // Tesseract's names; empty: eng and chi_sim
	VisionURL   string   // of an OpenAI-compatible service for captions; empty: none
	VisionKey   string
	VisionModel string

	// Prices are the prices of paid services, by the model's name.
	Prices cost.Prices

	Language Language // language model that finds memories in what was said; without a URL: none

	Limits engine.Limits // of programs
	Path   string        // where to look for programs, in the form of PATH; empty: PATH
	Dir    string        // for the temporary folders of the programs; empty: the system's
}

// EngineState describes one engine.
type EngineState struct {
	Kind    queue.Kind `json:"kind"`
	Engine  string     `json:"engine"`
	Present bool       `json:"present"`
	Note    string     `json:"note,omitempty"` // what it is not able to do
	Need    string     `json:"need,omitempty"` // what to install or set
}

// set holds the engines that are used; nil for those that are not.
type set struct {
	speech speech.Engine
	reader sight.Reader
	vision *llm.Client
	model  *llm.Client
	found  []EngineState

	speechModel string // the name under which Prices has it
	speechTo    string // host that gets recordings; empty: none
}

// need says what to install or set for a kind of work without an engine.
func (s *set) need(kind queue.Kind) string {
	for _, f := range s.found {
		if f.Kind == kind && !f.Present {
			return f.Engine + " is missing: " + f.Need
		}
	}
	return "no engine is set up for this"
}

// Detect reports for each kind of work which engine would do it, and what to
// install or set if there is none. A service with an address counts as
// available; whether it answers is found out with the first job.
func Detect(ctx context.Context, e Engines) ([]EngineState, error) {
	s, err := e.pick(ctx)
	if err != nil {
		return nil, err
	}
	return s.found, nil
}

func (e *Engines) command() engine.Command {
	return engine.Command{Limits: e.Limits, Path: e.Path, Dir: e.Dir}
}

func (e *Engines) pick(ctx context.Context) (*set, error) {
	s := &set{}
	if err := e.pickSpeech(s); err != nil {
		return nil, err
	}
	if err := e.pickSight(ctx, s); err != nil {
		return nil, err
	}
	if err := e.Language.pick(s, e.Prices); err != nil {
		return nil, err
	}
	return s, nil
}

const sphinxNeed = "install Debian's pocketsphinx and pocketsphinx-en-us, or name a better engine: the address of a whisper.cpp server, of an OpenAI-compatible service, or of a Wyoming server"

func (e *Engines) pickSpeech(s *set) error {
	name := e.Speech
	for _, c := range []struct{ engine, address string }{{"wyoming", e.Wyoming}, {"whisper.cpp", e.WhisperURL}, {"openai", e.OpenAIURL}} {
		if name == "" && c.address != "" {
			name = c.engine
		}
		if name == c.engine && c.address == "" {
			s.found = append(s.found, EngineState{Kind: queue.Transcribe, Engine: name, Need: "set its address"})
			return nil
		}
	}
	f := EngineState{Kind: queue.Transcribe, Present: true}
	switch name {
	case "none":
		return nil
	case "wyoming":
		s.speechTo, s.speechModel = e.Wyoming, e.WyomingModel
		s.speech = &speech.Wyoming{Address: e.Wyoming, Model: e.WyomingModel}
	case "whisper.cpp":
		s.speechTo, s.speechModel = host(e.WhisperURL), name
		s.speech = &speech.WhisperCPP{Service: engine.Service{URL: e.WhisperURL}}
	case "openai":
		s.speechTo = host(e.OpenAIURL)
		o := &speech.OpenAI{Service: engine.Service{URL: e.OpenAIURL, Key: e.OpenAIKey}, Model: e.OpenAIModel}
		s.speech, s.speechModel = o, o.ModelName()
		if _, ok := e.Prices[s.speechModel]; !ok {
			f.Note = noPrice
		}
	case "", "pocketsphinx":
		p := &speech.PocketSphinx{Command: e.command(), Model: e.SphinxModel}
		s.speech = p
		f.Note = "American English only, and a fifth or more of the words wrong; no Chinese"
		if err := p.Find(); err != nil {
			s.speech, f.Present, f.Need = nil, false, sphinxNeed+" ("+detail(err)+")"
		}
		f.Engine = p.Name()
	default:
		return fmt.Errorf("speech engine %q is not known: want pocketsphinx, whisper.cpp, openai, wyoming or none", name)
	}
	if s.speech != nil {
		f.Engine = s.speech.Name()
	}
	s.found = append(s.found, f)
	return nil
}

func (e *Engines) pickSight(ctx context.Context, s *set) error {
	switch e.Sight {
	case "none":
	case "", "tesseract":
		t := &sight.Tesseract{Command: e.command(), Langs: e.Langs}
		f := EngineState{Kind: queue.Read, Engine: t.Name(), Present: true}
		_, lack, err := t.Languages(ctx)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			f.Present, f.Need = false, "install Debian's tesseract-ocr and tesseract-ocr-chi-sim ("+detail(err)+")"
		default:
			s.reader = t
			if len(lack) > 0 {
				f.Note = "without the languages " + strings.Join(lack, ", ")
			}
		}
		s.found = append(s.found, f)
	default:
		return fmt.Errorf("sight engine %q is not known: want tesseract or none", e.Sight)
	}
	if e.VisionURL == "" {
		return nil
	}
	f := EngineState{Kind: queue.Caption, Engine: sight.Vision(e.VisionModel), Present: e.VisionModel != ""}
	if !f.Present {
		f.Need = "name its model"
	} else {
		var err error
		if s.vision, err = llm.New(llm.Config{URL: speech.V1(e.VisionURL), Model: e.VisionModel, Key: e.VisionKey, Timeout: visionTime}); err != nil {
			return fmt.Errorf("the model that sees: %w", err)
		}
		if _, ok := e.Prices[e.VisionModel]; !ok {
			f.Note = noPrice
		}
	}
	s.found = append(s.found, f)
	return nil
}

// visionTime is how long a model may take for twenty photos.
const visionTime = 5 * time.Minute

// host returns the host of an address.
func host(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	return u.Host
}

func detail(err error) string {
	var f *engine.Fault
	if errors.As(err, &f) {
		return f.Detail
	}
	return err.Error()
}
