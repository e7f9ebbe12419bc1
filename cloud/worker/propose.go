package worker

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/locket-dev/locket/cloud/worker/queue"
	"github.com/locket-dev/locket/memory"
)

// How what a worker made is tied to what it was made from, and tagged.
const (
	TranscriptOf  = "transcript_of"
	PrintOf       = "print_of"
	CaptionOf     = "caption_of"
	TagTranscript = "transcript"
	TagPrint      = "print"
	TagCaption    = "caption"
)

// What the node's extractor tags, and what a worker goes by.
const (
	tagRecording = "recording"
	tagWaiting   = "waiting"
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
	}
	c.Fields.Resource = f
	c.Links = []memory.Link{{Relation: relation, To: src.ID.String()}}
	return c
}

func plugin(k queue.Kind) string { return "worker/" + string(k) }

// nameOf is the fingerprint under which a memory made of src has its id: one
// for each engine, whatever it heard, so that work that is done twice after a
// crash is one memory.
func nameOf(src memory.ID, a answer) string {
	return fmt.Sprintf("%s of %s by %s", a.kind, src, a.engine)
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
