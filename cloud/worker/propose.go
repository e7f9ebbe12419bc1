package worker

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/locket-dev/locket/cloud/worker/queue"
	"github.com/locket-dev/locket/internal/engine/sight"
	"github.com/locket-dev/locket/internal/engine/speech"
	"github.com/locket-dev/locket/memory"
)

// How what a worker made is tied to what it was made from, and tagged.
const (
	TranscriptOf  = "transcript_of"
	PrintOf       = "print_of"
	CaptionOf     = "caption_of"
	SequenceOf    = "sequence_of"
	AnswerTo      = "answer_to"
	AnswerAbout   = "answer_about"
	TagTranscript = "transcript"
	TagPrint      = "print"
	TagCaption    = "caption"
	TagSequence   = "sequence"
	TagAnswer     = "answer"
)

// What the node's extractor tags, and what a worker goes by.
const (
	tagRecording = "recording"
	tagWaiting   = "waiting"
	tagQuestion  = "question"
	asksAbout    = "asks_about"
)

// Version of how candidates are made; it is part of their source.
const Version = "1.0.0"

// workOn says what is to be done on a memory.
func workOn(m *memory.Memory) []queue.Kind {
	f := m.Fields.Resource
	if m.Type != memory.Resource || m.State != memory.Active || f == nil || f.Blob == "" || m.Sensitivity >= memory.Secret || evidenceOf(m) == nil {
		return nil
	}
	switch {
	case f.MediaType == "audio/wav" && slices.Contains(m.Tags, tagRecording) && slices.Contains(m.Tags, tagWaiting):
		return []queue.Kind{queue.Transcribe}
	case f.MediaType == "image/jpeg" || f.MediaType == "image/png":
		return []queue.Kind{queue.Read, queue.Caption}
	}
	return nil
}

// evidenceOf is the event that a recording or a photo is of, nil where there is none.
func evidenceOf(m *memory.Memory) *memory.Evidence {
	for i := range m.Evidence {
		if !m.Evidence[i].Event.IsZero() {
			return &m.Evidence[i]
		}
	}
	return nil
}

// answer is what an engine made of a source, after it was scanned.
type answer struct {
	kind       queue.Kind
	engine     string
	text       string
	lang       string
	confidence float64 // less than 0: not known
	redacted   int
	segments   []speech.Segment // of a transcript, as the engine heard them
	more       memory.Metadata  // beside the engine's name
}

// candidate makes the memory that is proposed.
func candidate(src *memory.Memory, a answer) memory.Candidate {
	ev := evidenceOf(src)
	c := memory.Candidate{
		Type: memory.Resource, Text: cut(a.text, memory.MaxText), Lang: a.lang, Owner: src.Owner,
		Evidence:    []memory.Evidence{{Event: ev.Event, At: ev.At}},
		Source:      memory.Source{Device: ev.Event.Device, Plugin: plugin(a.kind), Version: Version, Model: a.engine},
		Confidence:  0.5, // of an engine that gives none: as good as a guess
		Sensitivity: max(src.Sensitivity, memory.Private),
		TrueFrom:    src.TrueFrom, TrueTo: src.TrueTo,
		Metadata: memory.Metadata{"engine": a.engine},
	}
	if a.confidence >= 0 {
		c.Confidence = min(a.confidence, 1)
	}
	maps.Copy(c.Metadata, a.more)
	if a.redacted > 0 {
		c.Metadata["redacted"] = strconv.Itoa(a.redacted)
	}
	f := &memory.ResourceFields{MediaType: "text/plain", Content: c.Text}
	relation := ""
	switch a.kind {
	case queue.Transcribe:
		f.Title, relation, c.Tags = "Transcript", TranscriptOf, []string{TagTranscript}
	case queue.Read:
		f.Title, relation, c.Tags = "Print in a photo", PrintOf, []string{TagPrint}
		if head, _, _ := strings.Cut(strings.TrimSpace(c.Text), "\n"); head != "" {
			f.Title = "Print in a photo: " + cut(head, 80)
		}
	case queue.Caption:
		f.Title, relation, c.Tags = "Caption", CaptionOf, []string{TagCaption}
	case queue.Sequence:
		f.Title, relation, c.Tags = "Photos", SequenceOf, []string{TagSequence}
	}
	c.Fields.Resource = f
	c.Links = []memory.Link{{Relation: relation, To: src.ID.String()}}
	return c
}

func plugin(k queue.Kind) string { return memory.WorkerPlugin + string(k) }

// nameOf is the fingerprint under which a memory made of src has its id: one
// for each engine, whatever it heard, so that work that is done twice after a
// crash is one memory.
func nameOf(src memory.ID, a answer) string {
	return fmt.Sprintf("%s of %s by %s", a.kind, src, a.engine)
}

// What a result says of how it was made, in its metadata.
const (
	metaPrompt   = "prompt"    // name and version of what was asked
	metaTokens   = "tokens"    // that the answer took
	metaMicroUSD = "micro_usd" // and what that cost, at the worker's prices
	metaSegments = "segments"  // of a transcript: FROM-TO in ms and, behind a colon, the speaker, with spaces between
	metaLayout   = "layout"    // of print: see sight.Page.Layout
	metaTaken    = "taken"     // by the camera's clock, RFC 3339; without an offset where it had none
	metaPlace    = "place"     // LAT,LON in degrees
)

// maxMeta is how long a value of metadata is.
const maxMeta = 4096

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
func taken(x *sight.Exif) memory.Metadata {
	out := memory.Metadata{}
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

// cut shortens s to at most n bytes, between characters.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// startOf is when a source was made.
func startOf(m *memory.Memory) time.Time {
	if !m.TrueFrom.IsZero() {
		return m.TrueFrom
	}
	return evidenceOf(m).At
}
