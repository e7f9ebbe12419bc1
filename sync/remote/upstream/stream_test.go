package upstream

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/locket-dev/locket/sync/remote/page"
)

// relay is the other end of streams: the open one receives what it says.
type relay struct {
	opened, open int
	say          chan page.Head
	breaks       chan error
}

func (r *relay) wake(ctx context.Context, heard func(page.Head) error) error {
	r.opened++
	r.open++
	defer func() { r.open-- }()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err := <-r.breaks:
			return err
		case h := <-r.say:
			if err := heard(h); err != nil {
				return err
			}
		}
	}
}

func over(t *testing.T, test func(*testing.T, *relay, *stream)) {
	synctest.Test(t, func(t *testing.T) {
		r := &relay{say: make(chan page.Head), breaks: make(chan error)}
		s := &stream{wake: r.wake}
		test(t, r, s)
		synctest.Wait()
		time.Sleep(restAfter + time.Second)
		synctest.Wait()
		if r.open != 0 {
			t.Errorf("%d streams are open that nobody waits for", r.open)
		}
	})
}

// waiting calls wait in another goroutine, until cut is called.
func waiting(s *stream, after uint64) (cut context.CancelFunc, ended chan error) {
	ctx, cut := context.WithCancel(context.Background())
	ended = make(chan error, 1)
	go func() { ended <- s.wait(ctx, after) }()
	synctest.Wait()
	return cut, ended
}

// still checks that nobody has been woken.
func still(t *testing.T, ended chan error) {
	t.Helper()
	synctest.Wait()
	select {
	case err := <-ended:
		t.Fatalf("woken: %v", err)
	default:
	}
}

// A stream continues when waits are cut off, and what it receives meanwhile wakes the next wait.
func TestStreamSurvivesACancelledWait(t *testing.T) {
	over(t, func(t *testing.T, r *relay, s *stream) {
		cut, ended := waiting(s, 3)
		r.say <- page.Head{Cursor: 3, Log: 1}
		still(t, ended)
		cut()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		time.Sleep(restAfter - time.Second)
		r.say <- page.Head{Cursor: 4, Log: 1}
		if err := s.wait(t.Context(), 3); err != nil {
			t.Fatal(err)
		}
		_, ended = waiting(s, 4)
		still(t, ended)
		r.say <- page.Head{Cursor: 4, Log: 2} // the log has moved on
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
		r.say <- page.Head{Cursor: 4, Log: 2, Records: 1}
		if err := s.wait(t.Context(), 4); err != nil {
			t.Fatal(err)
		}
		cut, ended = waiting(s, 4)
		still(t, ended)
		cut()
		<-ended
		if r.opened != 1 {
			t.Errorf("%d streams", r.opened)
		}
	})
}

// Changes between two streams are noticed by the second one.
func TestStreamIsReopened(t *testing.T) {
	over(t, func(t *testing.T, r *relay, s *stream) {
		broken := errors.New("broken")
		cut, ended := waiting(s, 1)
		r.say <- page.Head{Cursor: 1, Log: 1}
		r.breaks <- broken
		if err := <-ended; !errors.Is(err, broken) {
			t.Fatal(err)
		}
		cut()
		_, ended = waiting(s, 1)
		still(t, ended)
		r.say <- page.Head{Cursor: 1, Log: 2}
		if err := <-ended; err != nil || r.opened != 2 {
			t.Fatal(err, r.opened)
		}
		s.endIdle()
		synctest.Wait()
		if r.open != 0 {
			t.Error("a stream is open that was to rest")
		}
		// An earlier position says nothing about the present one.
		cut, ended = waiting(s, 0)
		s.endIdle() // somebody waits
		still(t, ended)
		r.say <- page.Head{Cursor: 1, Log: 2, Records: 1}
		if err := <-ended; err != nil || r.opened != 3 {
			t.Fatal(err, r.opened)
		}
		cut()
	})
}

// A relay that claims to have something, and shows nothing, is asked now and then, not as fast as
// it answers.
func TestStreamWithFalseWakeUps(t *testing.T) {
	over(t, func(t *testing.T, r *relay, s *stream) {
		_, ended := waiting(s, 1)
		r.say <- page.Head{Cursor: 9}
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
		for range 3 {
			began := time.Now()
			if err := s.wait(t.Context(), 1); err != nil || time.Since(began) != lookAgain {
				t.Fatal(err, time.Since(began))
			}
		}
		_, ended = waiting(s, 1)
		r.say <- page.Head{Cursor: 10}
		if err := <-ended; err != nil || r.opened != 1 {
			t.Fatal(err, r.opened)
		}
	})
}
