package recall

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/locket-dev/locket/memory"
)

// Dense finds documents that are near a text in meaning. The index has no
// vectors; the owner of the vectors implements this interface. It must be safe
// for concurrent use, and return soon after ctx ends. Late answers are not
// used.
type Dense interface {
	// Nearest returns at most n documents nearest to a text, each once, in any
	// order. Documents that the index does not have are ignored.
	Nearest(ctx context.Context, text string, n int) ([]Similar, error)
}

// Similar is a document with its similarity in meaning. Greater is nearer.
// Numbers of different answers can't be compared.
type Similar struct {
	ID         memory.ID
	Similarity float64
}

// Reranker reads a question together with the texts of the first hits and
// scores how well each answers it. It must be safe for concurrent use, and
// return soon after ctx ends. Late answers are not used.
type Reranker interface {
	// Rerank returns one number for each text, in their order: the greater the
	// better, comparable within one answer only.
	Rerank(ctx context.Context, question string, texts []string) ([]float64, error)
}

// Texts returns the texts of hits, in their order, for a reranker. An empty
// text means that the document is gone; it is ranked last.
type Texts func(ctx context.Context, hits []Hit) ([]string, error)

// Models are models that a query may use besides the index. Each is optional
// and limited in time. A search never fails because of a model:
// [Result.Skipped] says which did not contribute.
type Models struct {
	Dense    Dense
	Reranker Reranker
	Texts    Texts // needed with a Reranker
	// Within is how long each of the two may take; 0: DefaultWithin.
	Within time.Duration
	// First is how many hits the reranker reads; 0: DefaultFirst.
	First int
}

// Defaults of Models: a cross-encoder of MiniLM's size scores 100 short texts within a third of a
// second on four cores.
const (
	DefaultWithin = 400 * time.Millisecond
	DefaultFirst  = 100
)

// Skip says that a model did not contribute to an answer, and why.
type Skip struct {
	Part   string     `json:"part"` // the part of the score that is missing
	Reason SkipReason `json:"reason"`
	// Err is the model's error, if it failed.
	Err error `json:"-"`
}

// SkipReason says why a model did not contribute to an answer.
type SkipReason string

const (
	SkippedLate   SkipReason = "late"   // it took longer than Models.Within
	SkippedBusy   SkipReason = "busy"   // too many earlier calls are late and still running
	SkippedFailed SkipReason = "failed" // it returned an error, or impossible numbers
)

// maxLate is how many late calls may be running at a time.
const maxLate = 4

// patience runs the calls of one model and does not wait for late ones. If a
// model ignores its context, it occupies at most maxLate goroutines.
type patience struct {
	mu     sync.Mutex
	late   int
	closed bool
	calls  sync.WaitGroup
	agreed agreement // guarded by mu
}

// past returns the model's agreement with the questions until now.
func (p *patience) past() agreement {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.agreed
}

// agree adds the model's agreement with a question, see [agreement.with], and returns all of it.
func (p *patience) agree(z, can float64, question string) agreement {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.agreed = p.agreed.with(z, can, question)
	return p.agreed
}

// close returns when all calls have returned, including late ones; no more calls can start.
func (p *patience) close() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.calls.Wait()
}

var errBusy = errors.New("recall: earlier calls of a model are still under way")

// within calls f and waits for it for at most limit; 0: DefaultWithin.
func within[T any](ctx context.Context, p *patience, limit time.Duration, f func(context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(limit, DefaultWithin))
	var none, v T
	var err error
	c, refused := p.start(func() { v, err = f(ctx) }, cancel)
	if refused != nil {
		cancel()
		return none, refused
	}
	select {
	case <-c.done:
		return v, err
	case <-ctx.Done():
		if p.giveUp(c) {
			return none, ctx.Err()
		}
		return v, err
	}
}

// call is one call of a model.
type call struct {
	done            chan struct{}
	finished, given bool // it has returned; nobody waits for it. Under patience.mu
}

// start runs f, and then after, when f counts as finished.
func (p *patience) start(f, after func()) (*call, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.closed:
		return nil, ErrClosed
	case p.late >= maxLate:
		return nil, errBusy
	}
	c := &call{done: make(chan struct{})}
	p.calls.Go(func() {
		defer after()
		f()
		p.mu.Lock()
		defer p.mu.Unlock()
		c.finished = true
		if c.given {
			p.late--
		}
		close(c.done)
	})
	return c, nil
}

// giveUp counts a call as late, unless it has returned meanwhile.
func (p *patience) giveUp(c *call) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c.finished {
		return false
	}
	c.given = true
	p.late++
	return true
}

// skipped says why a call of a model gave nothing.
func skipped(part string, err error) Skip {
	switch {
	case errors.Is(err, errBusy):
		return Skip{Part: part, Reason: SkippedBusy}
	case errors.Is(err, context.DeadlineExceeded):
		return Skip{Part: part, Reason: SkippedLate}
	}
	return Skip{Part: part, Reason: SkippedFailed, Err: err}
}

// checkNumbers refuses values that are not finite numbers.
func checkNumbers[T any](list []T, value func(T) float64) error {
	for i, v := range list {
		if f := value(v); math.IsNaN(f) || math.IsInf(f, 0) {
			return fmt.Errorf("recall: answer %d of a model is %v", i, f)
		}
	}
	return nil
}
