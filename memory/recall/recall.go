// Package recall finds what was said and what is remembered: an index over
// utterances and memories, and the ranking that answers a question from it.
// It needs no model and no network.
//
// The words:
//
//   - A [Doc] is one thing that can be found: an utterance or a memory.
//   - A term is a stem, a pair of Chinese characters, a name, or a date, as a
//     small number in the index's dictionary.
//   - A group is a set of terms that count as one: a word of the question, or
//     the words that a lexicon puts beside it.
//   - A signal is one way to score a document over groups. Each is divided by
//     its greatest value for the question and weighed by [Weights]; what it
//     contributed is in [Hit.Parts] under its name.
//   - The chain of a session is its utterances in order; a document's context
//     is the chain's documents up to two places before and after it.
//   - A segment is some thousands of documents as bytes, immutable, kept by
//     by an implementation of [Segments], which seals them.
//
// All of the index is in memory, packed; segments exist so that opening it
// needs no text. An index may be read by many goroutines while one writes.
package recall

import (
	"context"
	"errors"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/graph"
)

// Callers can distinguish these errors.
var (
	// ErrCorrupt: a segment or the manifest is not what this package wrote.
	// The remedy is to remove the segments and to add every document again.
	ErrCorrupt = errors.New("recall: corrupt segment")
	// ErrClosed: the index was used after Close.
	ErrClosed = errors.New("recall: index is closed")
)

// Kind distinguishes sources from the memories made of them.
type Kind uint8

const (
	Utterance Kind = 1 // what was said
	Memory    Kind = 2 // what is remembered
)

// String returns the name of the kind.
func (k Kind) String() string {
	switch k {
	case Utterance:
		return "utterance"
	case Memory:
		return "memory"
	}
	return "unknown"
}

// Doc is a document of the index. ID, Kind and Text are required; the rest
// improves the ranking. The index stores terms, not the text.
type Doc struct {
	ID       memory.ID
	Kind     Kind
	Type     memory.Type // type of a memory
	Session  string      // utterances of one session are each other's context
	At       time.Time   // when it was said or happened; zero: not known
	Order    uint64      // breaks ties of At within a session
	Zone     string      // IANA zone in which At is read; empty: At's own
	Speaker  string
	Place    string
	Text     string
	Entities []string // names in the text, as the extractor gave them
	// Relations that the document states, at most graph.MaxNames.
	Relations []graph.Relation
	Pinned    bool
	Past      bool      // superseded: found only by a query for the past
	Source    memory.ID // the utterance that a memory quotes, whose context it shares
	// Sensitivity is that of a memory; nil: not known.
	Sensitivity *memory.Sensitivity
	// Plain is set for a memory that belongs to the wearer, and to no agent or run.
	Plain bool
}

// sens returns the sensitivity in the form that meta has.
func (d *Doc) sens() uint8 {
	if d.Sensitivity == nil {
		return 0
	}
	return 1 + uint8(*d.Sensitivity)
}

// About is what the index knows about a document that would be a hit.
type About struct {
	ID          memory.ID
	Kind        Kind
	Type        memory.Type // type of a memory
	Sensitivity memory.Sensitivity
	Rated       bool // Sensitivity is known
	Plain       bool // a memory that belongs to the wearer, and to no agent or run; false: not known
}

// Query is a question or a few words.
type Query struct {
	Text string
	// Own is the beginning of Text if a conversation lent the words after it, which count less. If
	// it is empty, all of Text counts in full.
	Own     string
	Now     time.Time      // what "yesterday" is relative to; zero: time.Now
	Days    [][2]time.Time // more days that the question names, each from its first midnight to its last
	Zone    string         // IANA zone of Now; empty: Now's own
	Wearer  string         // the speaker that "I" and 我 stand for
	K       int            // number of hits; 0: 10, at most MaxK
	Kinds   []Kind         // empty: both
	Types   []memory.Type  // types of memories; empty: all
	Speaker string         // only what this speaker said; empty: all
	From    time.Time      // only documents with At at this time or later; zero: all
	To      time.Time      // only documents with At before this time; zero: all
	// Allow is called for documents that would be hits, in no particular order,
	// possibly twice. nil allows all. It must not call the index.
	Allow func(About) bool
	// Glance is for an Allow that reads the store; it is nil for a quick Allow. It says at once
	// what Allow would say, or that it is not sure, and Allow is called only for documents of which
	// it is not sure. The index can be changed during these calls of Allow, and the search ends
	// when its context does.
	Glance func(About) (ok, sure bool)
	// IsShown reports whether the asker may know of a document. The question is then read as if there
	// were no other documents, see shown. It is called for any document, and must not call the
	// index. nil shows all, including those that Allow refuses as hits.
	IsShown func(About) bool
	// Holds reports whether a document contains a quoted phrase of the question
	// word for word. It is called for documents that contain all of the
	// phrase's words. nil means that this is enough. It must not call the
	// index.
	Holds func(memory.ID, Phrase) bool
	// IsDoubtful reports whether a document says nothing that the question can
	// rely on. Such a document may be a hit, but gives no confidence. nil
	// doubts none. It must not call the index.
	IsDoubtful func(memory.ID) bool
	// Counts reports whether a document states a number, for a question that asks for one ("how
	// much is my rent"). beside means that the document is next to a hit, and counts only if it
	// says little else. A hit for which neither it nor its neighbours count is an answer of little
	// confidence. nil means that the question asks for no number.
	Counts func(id memory.ID, beside bool) bool
	// Owner is the person about whose thing the question asks: a name, or a word such as "sister".
	// If TellsOfPerson returns true for a document, it tells something about a person, and counts for the
	// confidence only if it names Owner or a person who may be meant. If Owner is empty or TellsOfPerson is
	// nil, all documents count.
	Owner         string
	TellsOfPerson func(memory.ID) bool
	// Past includes superseded memories.
	Past bool
	// Apart returns a memory and the utterance that it quotes as two hits.
	// Otherwise they are one hit, and the utterance is in Hit.Also. Two memories of one utterance
	// are two hits, unless one has no word that the other lacks.
	Apart bool
	// Weights replaces the default weights. It is for measurements.
	Weights *Weights
	Models  Models
}

// MaxK is how many hits one query can have.
const MaxK = 1000

// Part is the contribution of one signal to a hit's score.
type Part struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"` // weighted; the parts of a hit add up to its score
}

// Hit is one answer.
type Hit struct {
	ID      memory.ID   `json:"id"`
	Kind    Kind        `json:"kind"`
	Type    memory.Type `json:"type,omitempty"`
	Source  memory.ID   `json:"source,omitzero"` // the utterance that a memory quotes
	At      time.Time   `json:"at,omitzero"`     // UTC
	Session string      `json:"session,omitempty"`
	Speaker string      `json:"speaker,omitempty"` // in lower case
	Score   float64     `json:"score"`             // 0 to 1; comparable within one result only
	Parts   []Part      `json:"parts"`
	Also    []memory.ID `json:"also,omitempty"` // documents that this hit includes
	// Past lists superseded memories that were taken from this utterance. If
	// one of its memories is not superseded, that memory is the hit.
	Past []memory.ID `json:"past,omitempty"`
	// Alone is how much of the question it covers without the lines beside it, 0 to 1.
	Alone float64 `json:"alone,omitempty"`
	// Minor is true if the hit covers much less of the question than the best one: see minorCovers.
	Minor bool `json:"minor,omitempty"`
}

// Result has the hits of a query, best first.
type Result struct {
	Hits []Hit `json:"hits"`
	// Confidence, from 0 to 1, says how much of what the question asks the best
	// hits cover. Below [Unsure], the answer is "I don't know".
	Confidence float64 `json:"confidence"`
	Shape      Shape   `json:"shape"`
	// Unquoted is true if the question is a phrase in quotation marks that no
	// document contains. The hits were then found by its single words.
	Unquoted bool `json:"unquoted,omitempty"`
	// Skipped lists the models that were asked and did not contribute.
	Skipped []Skip `json:"skipped,omitempty"`
	// Scanned counts the index entries that were read: the work done.
	Scanned int `json:"scanned"`

	agreed, canAgree float64 // see ranking.agrees
	most             float64 // the greatest score that the weights allow
}

// Segments stores sealed segments. Put replaces a segment as a whole. Get
// returns an error that wraps memory.ErrNotFound if there is no segment of that
// name. Put is durable when it returns, or at the latest when a later Put is.
type Segments interface {
	Put(ctx context.Context, name string, b []byte) error
	Get(ctx context.Context, name string) ([]byte, error)
	List(ctx context.Context) ([]string, error)
	Delete(ctx context.Context, name string) error
}
