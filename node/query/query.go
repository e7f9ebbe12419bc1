// Package query reads what a node remembers: a memory or a list of them, a search,
// the answer to a question, the context of a conversation, a day, and the graph of
// people and things.
package query

import (
	"context"
	"log/slog"
	"maps"
	"time"

	"github.com/locket-dev/locket/internal/llm"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/category"
	"github.com/locket-dev/locket/memory/engine"
	"github.com/locket-dev/locket/memory/recall"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/given"
	"github.com/locket-dev/locket/node/opened"
	"github.com/locket-dev/locket/node/serve"
)

// Engine reads the records, and writes questions about photos and counts of uses.
type Engine interface {
	View(ctx context.Context, fn func(*store.Tx) error) error
	Search(ctx context.Context, q recall.Query) (recall.Result, error)
	IDsOfType(t memory.Type) []memory.ID
	UtteranceTimes(from, to time.Time) []int64
	UtteranceTimesAround(t time.Time) (before, after time.Time)
	Commit(ctx context.Context, fn func(*store.Tx) error) error
	Assert(ctx context.Context, by engine.Authority, make func(*store.Tx) ([]memory.Assertion, error)) ([]memory.Change, error)
}

// Config is what the query part of an open node needs.
type Config struct {
	Engine Engine
	Models recall.Models
	Embed  func(ctx context.Context, texts []string) ([][]float32, error) // the embedding model; nil: there is none
	// Model returns the language model to ask now, or the reason why the configured one can't
	// be asked. nil and nil mean that there is none.
	Model  func() (*llm.Client, error)
	Topic  bool // the model finds out what a conversation is about
	Sorter *category.Sorter
	Given  *given.Collection // what others share with the wearer; nil: nothing
	Wearer string
	Zone   *time.Location
	Now    func() time.Time
	Log    *slog.Logger

	OnServed  func(at time.Time, texts ...string)                 // receives what was given out, so that the node does not learn it when an assistant says it
	FetchCold func(ctx context.Context, ids ...memory.ID) error   // brings cold memories back; its error is serve.ErrCold
	FetchBlob func(ctx context.Context, blob memory.ID) error     // fetches a blob that another device has
	NoSecret  func(ctx context.Context, field, text string) error // refuses a text that contains a secret
	MemoryID  func(ev memory.EventID, plugin, fingerprint string) memory.ID
	// ConsentEdition returns a text that changes whenever the wearer's consent is asked for or
	// given; nil: it never changes.
	ConsentEdition func(*store.Tx) (string, error)
}

// Query is the query part of an open node. Its methods are safe for concurrent use.
type Query struct {
	c    Config
	uses uses

	overview overview
}

// New makes a Query.
func New(c Config) *Query {
	return &Query{c: c, overview: overview{sorter: c.Sorter, now: c.Now, lock: make(chan struct{}, 1)}}
}

// Forget drops what is cached of the memories. The next question reads it again. It must be
// called after something was erased, when no transaction reads the earlier records any more.
func (qr *Query) Forget(ctx context.Context) error { return qr.overview.drop(ctx) }

// Close drops what is cached of the memories.
func (qr *Query) Close() { qr.overview.close() }

// Counts are counts of the active memories.
type Counts struct {
	Types      map[memory.Type]int
	Transcribe int // recordings that wait for a transcript
	Utterances int
}

// Count counts the memories that tx sees.
func (qr *Query) Count(ctx context.Context, tx *store.Tx) (n Counts, err error) {
	n.Utterances = len(qr.c.Engine.UtteranceTimes(time.Time{}, time.Time{}))
	err = qr.overview.look(ctx, tx, func() error {
		n.Types, n.Transcribe = maps.Clone(qr.overview.types), qr.overview.waits
		return nil
	})
	return n, err
}

// View implements opened.Viewer.
func (qr *Query) View(ctx context.Context, fn func(*store.Tx) error) error {
	return qr.c.Engine.View(ctx, fn)
}

// Pauses are the times at which intake was paused.
type Pauses interface {
	// PausesBetween returns the pauses that overlap a time span, oldest first. A pause without a
	// set end has none.
	PausesBetween(from, to time.Time) []serve.Span
	// Changes returns a number that grows whenever a pause begins or ends.
	Changes() uint64
}

// Reader implements serve.Reader, serve.Recaller, serve.Grapher, serve.MediaReader,
// serve.Calendar and serve.Watcher.
type Reader struct {
	of       opened.Of[*Query]
	waitsFor func(context.Context) (string, error)
	pauses   Pauses
}

// NewReader makes a Reader. waitsFor says what a question to a worker waits for.
func NewReader(of opened.Of[*Query], waitsFor func(context.Context) (string, error), pauses Pauses) Reader {
	return Reader{of, waitsFor, pauses}
}

// fetchBlob fetches a blob. The node can be locked meanwhile.
func (rd Reader) fetchBlob(ctx context.Context, name memory.ID) error {
	qr, release, err := rd.of.Use()
	if err != nil {
		return err
	}
	release()
	return qr.c.FetchBlob(ctx, name)
}
