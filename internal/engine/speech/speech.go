// Package speech turns recordings into transcripts, with engines that the user
// has: PocketSphinx as a program, whisper.cpp's server and OpenAI-compatible
// services over HTTP, and Wyoming servers (as in Home Assistant) over TCP.
//
// A [Transcript] is what an engine heard in one recording. A [Segment] is a
// part of it with its times. Engines differ widely. PocketSphinx needs only
// Debian's packages, knows only American English, and gets more than a third of
// the words wrong. None of the others comes with Locket.
package speech

import (
	"context"
	"strings"
	"time"
	"unicode"

	"github.com/locket-dev/locket/internal/engine"
	"github.com/locket-dev/locket/internal/llm"
)

// Engine transcribes one recording at a time. Its errors are *engine.Fault, or
// that of ctx. Implementations are safe for concurrent use.
type Engine interface {
	// Name returns the engine's name, with its model if there is a choice. It
	// becomes part of the source of memories.
	Name() string
	// Transcribe accepts a WAV file of 16 bit PCM, 16 kHz, one channel.
	Transcribe(ctx context.Context, wav []byte, hint Hints) (Transcript, error)
}

// Hints are what is already known about a recording.
type Hints struct {
	Lang  string   // BCP 47; empty: not known
	Names []string // people and places that may be mentioned, for engines that use them
}

// Transcript is what an engine heard. Text is empty if it heard no words.
type Transcript struct {
	Text     string
	Lang     string    // BCP 47, if the engine reports it
	Used     llm.Usage // tokens, if the engine counts them
	Segments []Segment
}

// Segment is a part of a transcript.
type Segment struct {
	From, To   time.Duration // from the recording's start
	Text       string
	Confidence float64 // 0 to 1; -1 if the engine has none
	Speaker    string  // the engine's name for the speaker, in this recording only; empty: it does not distinguish speakers
	Words      []Word  // empty if the engine reports no times of words
}

// Word is one word of a segment.
type Word struct {
	From, To   time.Duration // from the recording's start
	Text       string        // as written; may begin with a space
	Confidence float64       // 0 to 1; -1 if the engine has none
}

// Turns returns the text with a line for each speaker's turn if there are
// several speakers, otherwise the text.
func (t *Transcript) Turns() string {
	speakers := map[string]bool{}
	for _, s := range t.Segments {
		speakers[s.Speaker] = true
	}
	if len(speakers) < 2 {
		return t.Text
	}
	var b strings.Builder
	for i, s := range t.Segments {
		if i == 0 || s.Speaker != t.Segments[i-1].Speaker {
			if i > 0 {
				b.WriteByte('\n')
			}
			if s.Speaker != "" {
				b.WriteString(s.Speaker + ": ")
			}
		} else {
			b.WriteByte(' ')
		}
		b.WriteString(s.Text)
	}
	return b.String()
}

// Unknown is the confidence if an engine reports none.
const Unknown = -1

// Confidence is the mean of the segments', weighted by their length in bytes, or [Unknown].
func (t *Transcript) Confidence() float64 {
	var sum, n float64
	for _, s := range t.Segments {
		if s.Confidence >= 0 {
			sum += s.Confidence * float64(len(s.Text))
			n += float64(len(s.Text))
		}
	}
	if n == 0 {
		return Unknown
	}
	return sum / n
}

// Limits of a transcript: one of an hour has about 60 kB and 2,000 segments.
const (
	MaxText     = 256 << 10 // bytes
	MaxSegments = 20_000
	MaxWords    = 100_000
	maxSpeaker  = 40 // bytes of a speaker's name
)

// checked corrects an engine's answer, or refuses it.
func checked(name string, t Transcript) (Transcript, error) {
	t.Text = strings.TrimSpace(strings.ToValidUTF8(t.Text, ""))
	if len(t.Text) > MaxText || len(t.Segments) > MaxSegments {
		return Transcript{}, engine.Faultf(name, engine.Babbled, "a transcript of %d bytes in %d segments", len(t.Text), len(t.Segments))
	}
	words, said := 0, 0
	for i := range t.Segments {
		s := &t.Segments[i]
		if said += len(s.Text); said > 2*MaxText { // a segment may begin with spaces
			return Transcript{}, engine.Faultf(name, engine.Babbled, "segments of more than %d bytes", 2*MaxText)
		}
		if words += len(s.Words); words > MaxWords {
			return Transcript{}, engine.Faultf(name, engine.Babbled, "more than %d words with times", MaxWords)
		}
		for j := range s.Words {
			w := &s.Words[j]
			w.Text = strings.ToValidUTF8(w.Text, "")
			if w.From < 0 || w.To < w.From {
				return Transcript{}, engine.Faultf(name, engine.Babbled, "word %d of segment %d goes from %s to %s", j, i, w.From, w.To)
			}
			if !(w.Confidence >= 0) {
				w.Confidence = Unknown
			}
			w.Confidence = min(w.Confidence, 1)
		}
		s.Speaker = strings.TrimSpace(strings.Map(printable, strings.ToValidUTF8(s.Speaker, "")))
		if len(s.Speaker) > maxSpeaker {
			s.Speaker = ""
		}
		s.Text = strings.TrimSpace(strings.ToValidUTF8(s.Text, ""))
		if s.From < 0 || s.To < s.From {
			return Transcript{}, engine.Faultf(name, engine.Babbled, "segment %d goes from %s to %s", i, s.From, s.To)
		}
		if !(s.Confidence >= 0) { // NaN as well
			s.Confidence = Unknown
		}
		s.Confidence = min(s.Confidence, 1)
	}
	t.Lang = language(t.Lang)
	return t, nil
}

func printable(r rune) rune {
	if unicode.IsPrint(r) {
		return r
	}
	return -1
}

// languages are the names in the answers of Whisper's servers, for the most spoken languages; any
// other is left out rather than guessed.
var languages = map[string]string{
	"english": "en", "chinese": "zh", "mandarin": "zh", "cantonese": "yue", "german": "de", "spanish": "es", "russian": "ru",
	"korean": "ko", "french": "fr", "japanese": "ja", "portuguese": "pt", "turkish": "tr", "polish": "pl", "dutch": "nl",
	"arabic": "ar", "swedish": "sv", "italian": "it", "indonesian": "id", "hindi": "hi", "finnish": "fi", "vietnamese": "vi",
	"hebrew": "he", "ukrainian": "uk", "greek": "el", "czech": "cs", "romanian": "ro", "danish": "da", "hungarian": "hu",
	"norwegian": "no", "thai": "th", "urdu": "ur", "bengali": "bn", "persian": "fa", "tamil": "ta",
}

// language converts an engine's name of a language into a BCP 47 tag.
func language(s string) string {
	s = strings.ReplaceAll(strings.TrimSpace(s), "_", "-")
	if tag, ok := languages[strings.ToLower(s)]; ok {
		return tag
	}
	main, _, _ := strings.Cut(s, "-")
	if len(main) < 2 || len(main) > 3 || len(s) > 16 {
		return ""
	}
	for _, r := range s {
		if r != '-' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') {
			return ""
		}
	}
	return s
}

// English reports whether a BCP 47 tag is English.
func English(tag string) bool { return primary(tag) == "en" }

// primary returns the main language of a tag: "zh" of "zh-CN".
func primary(tag string) string {
	main, _, _ := strings.Cut(tag, "-")
	return strings.ToLower(main)
}
