// Package result makes memories of what engines answered about recordings and
// photos. The node uses it for the engines beside it, and a worker for its own.
//
// A source is the memory of a recording or a photo whose file is kept. An
// [Answer] is what an engine made of one source: words, print, or a caption.
package result

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/locket-dev/locket/internal/engine/sight"
	"github.com/locket-dev/locket/internal/engine/speech"
	"github.com/locket-dev/locket/memory"
)

// Kind is a kind of work on a source.
type Kind string

// The kinds.
const (
	Transcribe Kind = "transcribe" // a recording
	Read       Kind = "read"       // the print of a photo
	Caption    Kind = "caption"    // what a photo shows
	Sequence   Kind = "sequence"   // what photos show that were taken one after another
)

// How a result is tied to its source, and tagged.
const (
	TranscriptOf  = "transcript_of"
	PrintOf       = "print_of"
	CaptionOf     = "caption_of"
	SequenceOf    = "sequence_of"
	TagTranscript = "transcript"
	TagPrint      = "print"
	TagCaption    = "caption"
	TagSequence   = "sequence"
)

// What the node's extractor tags.
const (
	tagRecording = "recording"
	// metaOrientation is the metadata field in which the node keeps how many
	// quarter turns put a photo upright.
	metaOrientation = "orientation"
)

// What a result says of how it was made, in its metadata.
const (
	metaSegments = "segments" // of a transcript: FROM-TO in ms and, behind a colon, the speaker, with spaces between
	metaLayout   = "layout"   // of print: see sight.Page.Layout
	metaTaken    = "taken"    // by the camera's clock, RFC 3339; without an offset where it had none
	metaPlace    = "place"    // LAT,LON in degrees
)

// maxMeta is how long a value of metadata is.
const maxMeta = 4096

// Answer is what an engine made of a source.
type Answer struct {
	Kind       Kind             `json:"kind"`
	Engine     string           `json:"engine"`
	Text       string           `json:"text"`
	Lang       string           `json:"lang,omitempty"`
	Confidence float64          `json:"confidence"`         // 0 to 1; less than 0: not known
	Redacted   int              `json:"redacted,omitempty"` // secrets that were taken out of Text
	Segments   []speech.Segment `json:"segments,omitempty"` // of a transcript, as the engine heard them
	More       memory.Metadata  `json:"more,omitempty"`     // beside the engine's name
}

// Heard is the answer that a transcript is.
func Heard(engine string, t *speech.Transcript) Answer {
	a := Answer{Kind: Transcribe, Engine: engine, Text: t.Turns(), Lang: t.Lang, Confidence: t.Confidence(), Segments: t.Segments, More: memory.Metadata{}}
	if times := segments(t); times != "" {
		a.More[metaSegments] = times
	}
	return a
}

// Printed is the answer that the print of a photo is; its text is empty where
// there is none.
func Printed(engine string, p *sight.Page, photo []byte) Answer {
	a := Answer{Kind: Read, Engine: engine, Text: p.Text(), Confidence: p.Confidence(), More: taken(photo)}
	a.More[metaLayout] = p.Layout(maxMeta)
	return a
}

// Captioned is the answer that a caption of a photo is.
func Captioned(engine, text string, photo []byte) Answer {
	return Answer{Kind: Caption, Engine: engine, Text: text, Confidence: -1, More: taken(photo)}
}

// WorkOn says what is to be done on a memory; nothing where it is no source.
func WorkOn(m *memory.Memory) []Kind {
	f := m.Fields.Resource
	if m.Type != memory.Resource || m.State != memory.Active || f == nil || f.Blob == "" || m.Sensitivity >= memory.Secret || EvidenceOf(m) == nil {
		return nil
	}
	switch {
	case f.MediaType == "audio/wav" && slices.Contains(m.Tags, tagRecording) && slices.Contains(m.Tags, memory.WaitingTag):
		return []Kind{Transcribe}
	case f.MediaType == "image/jpeg" || f.MediaType == "image/png":
		return []Kind{Read, Caption}
	}
	return nil
}

// EvidenceOf is the event that a source is of, nil where there is none.
func EvidenceOf(m *memory.Memory) *memory.Evidence {
	for i := range m.Evidence {
		if !m.Evidence[i].Event.IsZero() {
			return &m.Evidence[i]
		}
	}
	return nil
}

// StartOf is when a source was made.
func StartOf(m *memory.Memory) time.Time {
	if !m.TrueFrom.IsZero() {
		return m.TrueFrom
	}
	return EvidenceOf(m).At
}

// Hints says how a photo is put upright: as the node said, or else the camera.
func Hints(src *memory.Memory, photo []byte) sight.Hints {
	turn, err := strconv.Atoi(src.Metadata[metaOrientation])
	if err != nil {
		x := sight.ReadExif(photo)
		turn = x.Turn
	}
	return sight.Hints{Turn: turn}
}

// By says who makes a memory, for its source.
type By struct{ Plugin, Version string }

// Candidate makes the memory that is proposed of an answer. Its text is to be
// without secrets by then.
func Candidate(src *memory.Memory, a *Answer, by By) memory.Candidate {
	ev := EvidenceOf(src)
	c := memory.Candidate{
		Type: memory.Resource, Text: Cut(a.Text, memory.MaxText), Lang: a.Lang, Owner: src.Owner,
		Evidence:    []memory.Evidence{{Event: ev.Event, At: ev.At}},
		Source:      memory.Source{Device: ev.Event.Device, Plugin: by.Plugin, Version: by.Version, Model: a.Engine},
		Confidence:  0.5, // of an engine that gives none: as good as a guess
		Sensitivity: max(src.Sensitivity, memory.Private),
		TrueFrom:    src.TrueFrom, TrueTo: src.TrueTo,
		Metadata: memory.Metadata{"engine": a.Engine},
	}
	if a.Confidence >= 0 {
		c.Confidence = min(a.Confidence, 1)
	}
	maps.Copy(c.Metadata, a.More)
	if a.Redacted > 0 {
		c.Metadata["redacted"] = strconv.Itoa(a.Redacted)
	}
	f := &memory.ResourceFields{MediaType: "text/plain", Content: c.Text}
	relation := ""
	switch a.Kind {
	case Transcribe:
		f.Title, relation, c.Tags = "Transcript", TranscriptOf, []string{TagTranscript}
	case Read:
		f.Title, relation, c.Tags = "Print in a photo", PrintOf, []string{TagPrint}
		if head, _, _ := strings.Cut(strings.TrimSpace(c.Text), "\n"); head != "" {
			f.Title = "Print in a photo: " + Cut(head, 80)
		}
	case Caption:
		f.Title, relation, c.Tags = "Caption", CaptionOf, []string{TagCaption}
	case Sequence:
		f.Title, relation, c.Tags = "Photos", SequenceOf, []string{TagSequence}
	}
	c.Fields.Resource = f
	c.Links = []memory.Link{{Relation: relation, To: src.ID.String()}}
	return c
}

// Name is the fingerprint under which a memory made of src has its id: one for
// each engine, whatever it answered, so that work that is done twice after a
// crash is one memory.
func Name(src memory.ID, kind Kind, engine string) string {
	return fmt.Sprintf("%s of %s by %s", kind, src, engine)
}

// segments tells when what was said, and by whom.
func segments(t *speech.Transcript) string {
	var b strings.Builder
	for _, s := range t.Segments {
		next := fmt.Sprintf("%d-%d", s.From.Milliseconds(), s.To.Milliseconds())
		if s.Speaker != "" {
			next += ":" + strings.ReplaceAll(s.Speaker, " ", "_")
		}
		if b.Len()+1+len(next) > maxMeta {
			break
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(next)
	}
	return b.String()
}

// taken tells what the camera wrote into a photo.
func taken(photo []byte) memory.Metadata {
	x, out := sight.ReadExif(photo), memory.Metadata{}
	switch {
	case x.Taken.IsZero():
	case x.Zoned:
		out[metaTaken] = x.Taken.Format(time.RFC3339)
	default:
		out[metaTaken] = x.Taken.Format("2006-01-02T15:04:05")
	}
	if x.Placed {
		out[metaPlace] = fmt.Sprintf("%.6f,%.6f", x.Lat, x.Lon)
	}
	return out
}

// Cut shortens s to at most n bytes, between characters.
func Cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
