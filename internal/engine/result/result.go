// Package result makes memories from engines' answers about recordings and photos. The node and the
// worker use it for their engines.
//
// A source is the memory of a recording or a photo whose file is stored. An
// [Answer] is an engine's result for one source: words, the text in a photo, or
// a caption.
package result

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/locket-dev/locket/internal/engine/sight"
	"github.com/locket-dev/locket/internal/engine/speech"
	"github.com/locket-dev/locket/memory"
)

// Kind is a kind of work on a source.
type Kind string

// The kinds.
const (
	Transcribe Kind = "transcribe" // a recording
	Read       Kind = "read"       // the text in a photo
	Caption    Kind = "caption"    // what a photo shows
	Sequence   Kind = "sequence"   // what a series of photos shows
)

// Relations between a result and its source, and its tags.
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

// Tags and metadata that the node's extractor sets.
const (
	tagRecording = "recording"
	// metaOrientation is the metadata field with the number of quarter turns
	// that put a photo upright.
	metaOrientation = "orientation"
)

// Keys of a result's metadata that say how it was made.
const (
	metaSegments = "segments" // of a transcript: FROM-TO in ms and, after a colon, the speaker, separated by spaces
	metaLayout   = "layout"   // of a photo's text: see sight.Page.Layout
	metaTaken    = "taken"    // by the camera's clock, RFC 3339; without an offset if the camera wrote none
	metaPlace    = "place"    // LAT,LON in degrees
)

// maxMeta is the greatest length of a metadata value, in bytes.
const maxMeta = 4096

// Answer is an engine's result for a source.
type Answer struct {
	Kind       Kind             `json:"kind"`
	Engine     string           `json:"engine"`
	Text       string           `json:"text"`
	Lang       string           `json:"lang,omitempty"`
	Confidence float64          `json:"confidence"`         // 0 to 1; less than 0: not known
	Redacted   int              `json:"redacted,omitempty"` // secrets that were taken out of Text
	Segments   []speech.Segment `json:"segments,omitempty"` // of a transcript, as the engine heard them
	More       memory.Metadata  `json:"more,omitempty"`     // in addition to the engine's name
	Left       map[int]string   `json:"left,omitempty"`     // photos of a series that can't be opened, by their numbers from 0, and why
}

// Heard returns the answer for a transcript.
func Heard(engine string, t *speech.Transcript) Answer {
	a := Answer{Kind: Transcribe, Engine: engine, Text: t.Turns(), Lang: t.Lang, Confidence: t.Confidence(), Segments: t.Segments, More: memory.Metadata{}}
	if times := segments(t); times != "" {
		a.More[metaSegments] = times
	}
	return a
}

// Printed returns the answer for the text in a photo; its text is empty if
// there is none.
func Printed(engine string, p *sight.Page, photo []byte) Answer {
	a := Answer{Kind: Read, Engine: engine, Text: p.Text(), Confidence: p.Confidence(), More: taken(photo)}
	a.More[metaLayout] = p.Layout(maxMeta)
	return a
}

// Captioned returns the answer for a caption of a photo.
func Captioned(engine, text string, photo []byte) Answer {
	return Answer{Kind: Caption, Engine: engine, Text: text, Confidence: -1, More: taken(photo)}
}

// WorkOn returns the kinds of work that can be done on a memory; none if it is not a source.
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

// EvidenceOf returns the event of a source, or nil.
func EvidenceOf(m *memory.Memory) *memory.Evidence {
	for i := range m.Evidence {
		if !m.Evidence[i].Event.IsZero() {
			return &m.Evidence[i]
		}
	}
	return nil
}

// Speakers returns who said each segment. If the device has recognised the voice of a recording,
// that person is the one who says most in it, and any other is someone. Otherwise the engine's
// names are kept.
func Speakers(src *memory.Memory, segments []speech.Segment) []string {
	voice := ""
	if ev := EvidenceOf(src); ev != nil {
		voice = ev.Speaker
	}
	most := most(segments)
	out := make([]string, len(segments))
	for i, s := range segments {
		switch {
		case voice == "":
			out[i] = s.Speaker
		case s.Speaker == most:
			out[i] = voice
		default:
			out[i] = memory.Someone
		}
	}
	return out
}

// most returns the engine's name of the speaker who says most.
func most(segments []speech.Segment) (name string) {
	bytes := map[string]int{}
	for _, s := range segments {
		if bytes[s.Speaker] += len(s.Text); bytes[s.Speaker] > bytes[name] {
			name = s.Speaker
		}
	}
	return name
}

// KnownVoice keeps only the segments of the speaker who says most, if the recording is marked as
// one of which only a known voice may be kept.
func KnownVoice(src *memory.Memory, t *speech.Transcript) {
	most := most(t.Segments)
	other := func(s speech.Segment) bool { return s.Speaker != most }
	if !slices.Contains(src.Tags, memory.KnownVoiceTag) || !slices.ContainsFunc(t.Segments, other) {
		return
	}
	t.Segments = slices.DeleteFunc(slices.Clone(t.Segments), other)
	var said []string
	for _, s := range t.Segments {
		said = append(said, strings.TrimSpace(s.Text))
	}
	t.Text = strings.Join(said, " ")
}

// StartOf returns when a source was made.
func StartOf(m *memory.Memory) time.Time {
	if !m.TrueFrom.IsZero() {
		return m.TrueFrom
	}
	return EvidenceOf(m).At
}

// Hints says how to turn a photo upright: as the node found, or as the camera wrote.
func Hints(src *memory.Memory, photo []byte) sight.Hints {
	turn, err := strconv.Atoi(src.Metadata[metaOrientation])
	if err != nil {
		x := sight.ReadExif(photo)
		turn = x.Turn
	}
	return sight.Hints{Turn: turn}
}

// By says who makes a memory. It becomes part of its source.
type By struct{ Plugin, Version string }

// Candidate returns the memory to propose for an answer. Secrets must already
// be removed from the text.
func Candidate(src *memory.Memory, a *Answer, by By) memory.Candidate {
	ev := EvidenceOf(src)
	c := memory.Candidate{
		Type: memory.Resource, Text: memory.Cut(a.Text, memory.MaxText), Lang: a.Lang, Owner: src.Owner,
		Evidence:    []memory.Evidence{{Event: ev.Event, At: ev.At}},
		Source:      memory.Source{Device: ev.Event.Device, Plugin: by.Plugin, Version: by.Version, Model: a.Engine},
		Confidence:  0.5, // for an engine without a confidence
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
			f.Title = "Print in a photo: " + memory.Cut(head, 80)
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

// Name returns the fingerprint from which a memory made of src gets its id. It
// is the same for each run of one engine, so that work which is done twice
// after a crash gives one memory.
func Name(src memory.ID, kind Kind, engine string) string {
	return fmt.Sprintf("%s of %s by %s", kind, src, engine)
}

// segments formats when each segment was said, and by whom.
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

// taken returns what the camera wrote into a photo.
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
