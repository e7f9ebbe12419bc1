package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	heavy "github.com/locket-dev/locket/internal/engine"
	"github.com/locket-dev/locket/internal/engine/sight"
	"github.com/locket-dev/locket/internal/engine/speech"
	"github.com/locket-dev/locket/internal/testing/speechtest"
	"github.com/locket-dev/locket/testdata/day"
	"github.com/locket-dev/locket/wasm/plugins/speech/testdata/audio"
)

// The worker suite lets each available engine transcribe recordings with known words, and read a
// photo of print. Then a worker reads photos in a space, and loses its grant. An engine that is a
// service is available if it has an address, as in locket-cloud worker.

// wordsIn maps the recordings of the project and its data to the words that are said in them.
var wordsIn = map[string]string{
	"jfk.wav":       "And so my fellow Americans ask not what your country can do for you ask what you can do for your country",
	"spk1_snt1.wav": "the child almost hurt the small dog",
	"spk1_snt2.wav": "drop the two when you add the figures",
}

// noteSaid is the text printed in testdata/day/note.png.
const noteSaid = "LANE 128 BOOK SWAP Saturday 26 September Open from two until five in the courtyard Bring two books take two home Tea from Mrs Shen"

func runWorker(ctx context.Context, f *frame) error {
	whisper := f.String("whisper-url", os.Getenv("LOCKET_WHISPER_URL"), "address of a whisper.cpp server")
	openAI := f.String("openai-url", os.Getenv("LOCKET_OPENAI_URL"), "address of an OpenAI-compatible service that transcribes; key in LOCKET_OPENAI_KEY")
	model := f.String("openai-model", "", "its model")
	wyoming := f.String("wyoming", os.Getenv("LOCKET_WYOMING"), "HOST:PORT of a Wyoming server")
	pages := f.Int("pages", 12, "of print that a worker reads, each of which is seen three times; 0: none")
	revocations := f.Int("revocations", 20, "grants that are ended while a program is at work; 0: none")
	cache := cacheFlag(f.FlagSet)
	if !f.parsed() || f.NArg() > 1 || min(*pages, *revocations) < 0 {
		fmt.Fprintln(f.stderr, "usage: locket-bench worker [flags] [FOLDER]: WAV files of 16 kHz, with the words in NAME.txt where they are not known")
		return errUsage
	}
	clips, skipped, err := recordings(f.Arg(0))
	if err != nil {
		return err
	}
	for _, name := range skipped {
		fmt.Fprintf(f.stderr, "%s: its words are not known: put them into %s\n", name, strings.TrimSuffix(name, ".wav")+".txt")
	}
	engines := []speech.Engine{&speech.PocketSphinx{}}
	if *whisper != "" {
		engines = append(engines, &speech.WhisperCPP{Service: heavy.Service{URL: *whisper}})
	}
	if *openAI != "" {
		engines = append(engines, &speech.OpenAI{Service: heavy.Service{URL: *openAI, Key: os.Getenv("LOCKET_OPENAI_KEY")}, Model: *model})
	}
	if *wyoming != "" {
		engines = append(engines, &speech.Wyoming{Address: *wyoming})
	}
	var results []result
	for _, e := range engines {
		r, err := wordErrorRate(ctx, e, clips)
		var fault *heavy.Fault
		if errors.As(err, &fault) && fault.Kind == heavy.Missing {
			fmt.Fprintf(f.stderr, "%v\n", err)
			continue
		}
		if err != nil {
			return err
		}
		results = append(results, r...)
	}
	r, err := printErrorRate(ctx)
	if err != nil {
		return err
	}
	results = append(results, r)
	err = withCache(*cache, func(dir string) error {
		if *pages > 0 {
			r, err := framesStored(ctx, dir, *pages)
			if err != nil {
				return err
			}
			results = append(results, r)
		}
		if *revocations > 0 {
			r, err := revoked(ctx, dir, *revocations)
			if err != nil {
				return err
			}
			results = append(results, r...)
		}
		return nil
	})
	return f.print(results, err)
}

// clip is a recording with its words.
type clip struct {
	name, said string
	wav        []byte
}

// recordings reads a folder's WAV files; without a folder the project's own one.
func recordings(dir string) (clips []clip, skipped []string, err error) {
	if dir == "" {
		return []clip{{"jfk.wav", wordsIn["jfk.wav"], audio.Speech()}}, nil, nil
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.wav"))
	if err != nil {
		return nil, nil, err
	}
	for _, file := range files {
		c := clip{name: filepath.Base(file)}
		text, err := os.ReadFile(strings.TrimSuffix(file, ".wav") + ".txt")
		switch {
		case err == nil:
			c.said = string(text)
		case errors.Is(err, os.ErrNotExist):
			c.said = wordsIn[c.name]
		default:
			return nil, nil, err
		}
		if c.said == "" {
			skipped = append(skipped, c.name)
			continue
		}
		if c.wav, err = os.ReadFile(file); err != nil {
			return nil, nil, err
		}
		clips = append(clips, c)
	}
	if len(clips) == 0 {
		return nil, nil, fmt.Errorf("%s: no WAV file whose words are known", dir)
	}
	return clips, skipped, nil
}

// caseName returns an engine's name as a case.
func caseName(name string) string {
	return strings.Trim(strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, strings.ToLower(name)), "_")
}

// wordErrorRate lets an engine transcribe the clips, as the worker does.
func wordErrorRate(ctx context.Context, e speech.Engine, clips []clip) ([]result, error) {
	w := speech.Windows{Engine: e}
	wrong, words := 0, 0
	var sound, took time.Duration
	for _, c := range clips {
		began := time.Now()
		t, err := w.Transcribe(ctx, c.wav, speech.Hints{})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.name, err)
		}
		took += time.Since(began)
		sound += speech.Length(c.wav)
		n, of := speechtest.WordErrors(c.said, t.Text)
		wrong, words = wrong+n, words+of
	}
	note := fmt.Sprintf("words wrong, in %d clips of %.0f s", len(clips), sound.Seconds())
	if strings.HasPrefix(e.Name(), "pocketsphinx") {
		note += "; poor, American English only, no Chinese"
	}
	name := caseName(e.Name())
	return []result{
		{Suite: "worker", Case: "wer_" + name, N: words, Value: round(100 * float64(wrong) / float64(words)), Unit: "%", Note: note},
		{Suite: "worker", Case: "realtime_" + name, N: len(clips), Value: round(took.Seconds() / sound.Seconds()), Unit: "×", Note: "time for a second of sound"},
	}, nil
}

// printErrorRate lets Tesseract read the project's photo of a note.
func printErrorRate(ctx context.Context) (result, error) {
	photo, err := day.Files.ReadFile("note.png")
	if err != nil {
		return result{}, err
	}
	p, err := (&sight.Tesseract{}).Read(ctx, photo, sight.Hints{})
	if err != nil {
		return result{}, err
	}
	wrong, words := speechtest.WordErrors(noteSaid, p.Text())
	return result{Suite: "worker", Case: "print_wer_tesseract", N: words, Value: round(100 * float64(wrong) / float64(words)), Unit: "%",
		Note: fmt.Sprintf("of one note, %d blocks, confidence %.2f", len(p.Blocks), p.Confidence())}, nil
}
