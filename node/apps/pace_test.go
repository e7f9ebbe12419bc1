package apps

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/filter"
	"github.com/locket-dev/locket/memory/store"
	"github.com/locket-dev/locket/node/serve"
)

// still is a recaller that does not answer until it is told to end.
type still struct {
	begun chan bool // one item for each call
	end   chan error
}

func (s *still) recall() error {
	s.begun <- true
	return <-s.end
}

func (s *still) Search(context.Context, serve.SearchRequest) (serve.SearchResult, error) {
	return serve.SearchResult{}, s.recall()
}

func (s *still) Ask(context.Context, serve.AskRequest) (serve.AskResult, error) {
	return serve.AskResult{}, s.recall()
}

func (s *still) Context(context.Context, serve.ContextRequest) (serve.ContextResult, error) {
	return serve.ContextResult{}, s.recall()
}

// listing is a reader that does not answer either.
type listing struct {
	serve.Reader
	*still
}

func (l listing) List(context.Context, serve.ListQuery) (serve.ListPage, error) {
	return serve.ListPage{}, l.recall()
}

func (l listing) Owners(context.Context, filter.Filter) ([]serve.OwnerCount, error) {
	return nil, l.recall()
}

// empty is a store that contains nothing, and stores nothing.
type empty struct{ Store }

func (empty) View(context.Context, func(*store.Tx) error) error   { return nil }
func (empty) Update(context.Context, func(*store.Tx) error) error { return nil }

// An app may run only a few recalls at the same time. Further ones wait, but not forever; the
// owner and other apps don't wait for them.
func TestFewRecallsAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := &still{make(chan bool, 100), make(chan error)}
		l := &reader{in: listing{still: in}}
		r, b, broken := &recaller{in}, NewBook(empty{}, nil, time.Now), errors.New("broken")
		as := func(name string) context.Context {
			v := &visit{book: b}
			v.app.Name, v.app.Can = name, []serve.Right{serve.RightRead}
			return serve.WithCaller(t.Context(), v)
		}
		answers := make(chan error, 100)
		ask := func(ctx context.Context, which int) {
			go func() {
				var err error
				switch which % 5 {
				case 3:
					_, err = l.List(ctx, serve.ListQuery{})
				case 4:
					_, err = l.Owners(ctx, filter.Filter{})
				case 0:
					_, err = r.Search(ctx, serve.SearchRequest{Query: "tea"})
				case 1:
					_, err = r.Context(ctx, serve.ContextRequest{Topic: "tea"})
				default:
					_, err = r.Ask(ctx, serve.AskRequest{Question: "tea", EvidenceOnly: true})
				}
				answers <- err
			}()
		}
		begun := func(want int) {
			t.Helper()
			synctest.Wait()
			if len(in.begun) != want {
				t.Fatalf("%d have begun, want %d", len(in.begun), want)
			}
		}
		answer := func(want error) {
			t.Helper()
			synctest.Wait()
			if len(answers) != 1 {
				t.Fatalf("%d are answered", len(answers))
			}
			if err := <-answers; !errors.Is(err, want) {
				t.Errorf("%v, want %v", err, want)
			}
		}
		one := as("one")
		for i := range maxRecalls + 1 {
			ask(one, i)
		}
		begun(maxRecalls)
		in.end <- broken // then a waiting one gets its place
		answer(broken)
		begun(maxRecalls + 1)

		gone, leave := context.WithCancel(one)
		ask(gone, 0)
		ask(as("two"), 0)
		ask(t.Context(), 0)
		begun(maxRecalls + 3)
		leave()
		answer(context.Canceled)
		ask(one, 0)
		time.Sleep(placeWait) // with the clock of synctest, so it takes no time
		answer(serve.ErrLimit)
		close(in.end)
		synctest.Wait()
		if len(answers) != maxRecalls+2 {
			t.Fatalf("%d are answered at the end, want %d", len(answers), maxRecalls+2)
		}
		for range maxRecalls + 2 {
			if err := <-answers; err != nil {
				t.Error(err)
			}
		}
	})
}

// unwritten is a writer that does not finish until it is told to end.
type unwritten struct {
	serve.Writer
	still
}

func (w *unwritten) Add(context.Context, serve.AddRequest) (serve.AddResult, error) {
	return serve.AddResult{}, w.recall()
}

// An app writes one thing at a time: what a wearable or the owner has to say waits for that one
// and not for everything that the app sends.
func TestThreatAppWritesAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := &unwritten{still: still{make(chan bool, 100), make(chan error)}}
		w, b, broken := &writer{in: in}, NewBook(empty{}, nil, time.Now), errors.New("broken")
		as := func(name string) context.Context {
			v := &visit{book: b, scope: scope{types: []memory.Type{memory.Semantic}}}
			v.app.Name, v.app.Can = name, []serve.Right{serve.RightAdd}
			return serve.WithCaller(t.Context(), v)
		}
		answers := make(chan error, 100)
		add := func(ctx context.Context) {
			go func() {
				_, err := w.Add(ctx, serve.AddRequest{Text: "I like tea."})
				answers <- err
			}()
		}
		begun := func(want int) {
			t.Helper()
			synctest.Wait()
			if len(in.begun) != want {
				t.Fatalf("%d have begun, want %d", len(in.begun), want)
			}
		}
		for range 30 {
			add(as("one"))
		}
		begun(1)
		add(as("two"))
		add(t.Context())
		begun(3)
		in.end <- broken
		in.end <- broken
		in.end <- broken
		begun(4)              // the next one of the first app
		time.Sleep(placeWait) // with the clock of synctest, so it takes no time
		synctest.Wait()
		refused := 0
		for range len(answers) {
			if err := <-answers; errors.Is(err, serve.ErrLimit) {
				refused++
			}
		}
		if refused != 28 {
			t.Errorf("%d were refused", refused)
		}
		in.end <- broken
	})
}
