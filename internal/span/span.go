// Package span measures pieces of work for traces. A span has a name, a beginning, an end, whether
// it failed, and numbers. Spans that begin inside another one are its children, and belong to its
// trace.
//
// A span contains nothing of what was said, and no names: its words are constants of the program,
// which the compiler ensures, and of an error only the fact is kept.
package span

import (
	"context"
	"encoding/binary"
	"math/rand/v2"
	"time"
)

// constant is a string that only the program's own text can provide: outside of this package, no
// variable can be converted to it.
type constant string

// Kind says who requested the work.
type Kind int

// Kinds, with OpenTelemetry's numbers.
const (
	Internal Kind = 1
	Server   Kind = 2 // somebody calls this process
	Client   Kind = 3 // this process calls another one
)

// Sink takes spans that have ended. It must not block, and is safe for concurrent use.
type Sink interface{ Take(Span) }

// Span is a piece of work. Its methods do nothing if it is nil. It is used by one goroutine.
type Span struct {
	Name       string
	Kind       Kind
	Trace      [16]byte
	ID, Parent [8]byte // zeros: no parent
	Begun      time.Time
	Ended      time.Time
	Failed     bool
	Attributes []Attribute

	sink Sink
}

// Attribute is a property of a span.
type Attribute struct {
	Key    string
	Text   string // empty: Number counts
	Number int64
}

type (
	sinkKey struct{}
	spanKey struct{}
)

// With returns a context whose spans go to a sink. With a nil sink it returns ctx itself.
func With(ctx context.Context, to Sink) context.Context {
	if to == nil {
		return ctx
	}
	return context.WithValue(ctx, sinkKey{}, to)
}

// Start begins a span of this process's own work. If ctx has no sink, it returns nil, a span that
// is not kept.
func Start(ctx context.Context, name constant) (context.Context, *Span) {
	return start(ctx, string(name), Internal)
}

// Ask begins a span of work that another program or machine does.
func Ask(ctx context.Context, name constant) (context.Context, *Span) {
	return start(ctx, string(name), Client)
}

// Serve begins a span of a request. The route is a pattern such as /v1/memories/{id},
// not a path.
func Serve(ctx context.Context, method, route string) (context.Context, *Span) {
	ctx, s := start(ctx, method+" "+route, Server)
	if s != nil {
		s.Attributes = append(s.Attributes, Attribute{Key: "http.request.method", Text: method}, Attribute{Key: "http.route", Text: route})
	}
	return ctx, s
}

func start(ctx context.Context, name string, kind Kind) (context.Context, *Span) {
	to, _ := ctx.Value(sinkKey{}).(Sink)
	if to == nil {
		return ctx, nil
	}
	s := &Span{Name: name, Kind: kind, Begun: time.Now(), sink: to}
	if over, _ := ctx.Value(spanKey{}).(*Span); over != nil {
		s.Trace, s.Parent = over.Trace, over.ID
	} else {
		binary.BigEndian.PutUint64(s.Trace[:], rand.Uint64()|1) // neither id may be zero
		binary.BigEndian.PutUint64(s.Trace[8:], rand.Uint64())
	}
	binary.BigEndian.PutUint64(s.ID[:], rand.Uint64()|1)
	return context.WithValue(ctx, spanKey{}, s), s
}

// Count records a number.
func (s *Span) Count(key constant, n int) {
	if s != nil {
		s.Attributes = append(s.Attributes, Attribute{Key: string(key), Number: int64(n)})
	}
}

// Note records one of a few words of the program.
func (s *Span) Note(key, value constant) {
	if s != nil {
		s.Attributes = append(s.Attributes, Attribute{Key: string(key), Text: string(value)})
	}
}

// Fail records that the work failed.
func (s *Span) Fail() {
	if s != nil {
		s.Failed = true
	}
}

// End ends the span, which must not be used afterwards. Of the error it only keeps that there was
// one.
func (s *Span) End(err error) {
	if s == nil {
		return
	}
	s.Ended, s.Failed = time.Now(), s.Failed || err != nil
	s.sink.Take(*s)
}
