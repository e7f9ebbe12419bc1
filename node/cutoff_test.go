//go:build unix

package node

import (
	"context"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/locket-dev/locket/internal/testing/llmtest"
	"github.com/locket-dev/locket/internal/testing/narrow"
	"github.com/locket-dev/locket/internal/testing/speechtest"
	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/extract/sound"
	"github.com/locket-dev/locket/node/serve"
)

// badLine is a connection to a server with few transfers at the same time. While it is stuck
// it accepts a few bytes of each connection, and then no more until it is freed.
type badLine struct {
	net.Listener
	to string

	mu    sync.Mutex
	stuck chan struct{} // closed by free; nil: the line works
	began chan struct{} // closed when something arrived while it was stuck
	took  chan int      // bytes that arrived on a stuck connection, at its end
}

// stuckAfter is how many bytes a line accepts while it is stuck.
const stuckAfter = 4 << 10

func newBadLine(t *testing.T, to string) *badLine {
	t.Helper()
	ln := narrow.Listen(t, stuckAfter)
	l := &badLine{Listener: ln, to: to}
	var work sync.WaitGroup
	work.Go(func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			work.Go(func() { l.carry(t, c) })
		}
	})
	t.Cleanup(func() {
		ln.Close()
		l.free()
		work.Wait()
	})
	return l
}

func (l *badLine) carry(t *testing.T, c net.Conn) {
	defer c.Close()
	l.mu.Lock()
	stuck, began, took := l.stuck, l.began, l.took
	l.mu.Unlock()
	if stuck != nil {
		n, err := io.CopyN(io.Discard, c, stuckAfter)
		if err == nil {
			close(began)
			<-stuck
			var rest int64
			rest, _ = io.Copy(io.Discard, c)
			n += rest
		}
		took <- int(n)
		return
	}
	far, err := net.Dial("tcp", l.to)
	if err != nil {
		t.Error(err)
		return
	}
	defer far.Close()
	// A client keeps a connection for further requests for a minute: it ends with the test.
	defer context.AfterFunc(t.Context(), func() { c.Close(); far.Close() })()
	var both sync.WaitGroup
	both.Go(func() {
		_, _ = io.Copy(far, c) // either side may hang up
		_ = far.(*net.TCPConn).CloseWrite()
	})
	_, _ = io.Copy(c, far)
	c.Close()
	both.Wait()
}

// stick makes the next connection get stuck.
func (l *badLine) stick() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stuck, l.began, l.took = make(chan struct{}), make(chan struct{}), make(chan int, 1)
}

// free makes it accept everything again.
func (l *badLine) free() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stuck != nil {
		close(l.stuck)
		l.stuck = nil
	}
}

func waitFor[T any](t *testing.T, what string, c <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-c:
	case <-time.After(10 * time.Minute):
		t.Fatalf("%s: never", what)
	}
	return v
}

// If the home is locked while a recording or a photo is being sent to an engine, the
// transfer stops: neither the engine's process nor the system's buffers send any more. After
// the unlock it is sent completely, and gets its words once.
func TestLockStopsUploads(t *testing.T) {
	t.Parallel()
	t.Run("sound", func(t *testing.T) {
		s := speechtest.Whisper(t)
		n := running(t, nil)
		line := newBadLine(t, s.Listener.Addr().String())
		addEngine(t, n, "ears", "http://"+line.Addr().String())
		s.Says(says("The gardener put the ladder beside the gate."))
		tried := len(s.Heard())
		cutsUpload(t, n, line, func() { sounds(t, n, evening) })
		eventually(t, "words", func() bool { return len(heardBy(t, n)) == 1 && engineOfKind(t, n, "ears").Waiting == 0 })
		if got := len(s.Heard()) - tried; got != 1 {
			t.Errorf("it was heard %d times", got)
		}
	})
	t.Run("photo", func(t *testing.T) {
		s := llmtest.New(t, llmtest.Options{})
		s.Otherwise(llmtest.Say("A cup of coffee beside a spoon."))
		n := running(t, nil)
		line := newBadLine(t, strings.TrimSuffix(strings.TrimPrefix(s.URL, "http://"), "/v1"))
		if _, err := n.AddEngine(t.Context(), serve.AddEngineRequest{Kind: "eyes", Address: "http://" + line.Addr().String() + "/v1", Model: s.Model()}); err != nil {
			t.Fatal(err)
		}
		cutsUpload(t, n, line, func() {
			comesEvent(t, n, memory.Event{ID: memory.EventID{Device: "glasses", Boot: 1, Seq: 1}, Kind: memory.KindPhoto, At: evening, Received: evening, Clock: memory.ClockWall, Codec: "jpeg", Data: file(t, "coffee-1.jpg")})
		})
		eventually(t, "a caption", func() bool { e := engineOfKind(t, n, "eyes"); return e.Done == 1 && e.Waiting == 0 })
	})
}

// cutsUpload has something sent over a stuck line, and locks and unlocks the node meanwhile.
func cutsUpload(t *testing.T, n *Node, line *badLine, send func()) {
	t.Helper()
	line.stick()
	took, began := line.took, line.began
	send()
	waitFor(t, "an upload", began)
	if err := n.Lock(t.Context()); err != nil {
		t.Fatal(err)
	}
	line.free()
	if got := waitFor(t, "the end of the upload", took); got > 6*stuckAfter { // these bytes arrived before the lock
		t.Errorf("%d bytes came: it went on after the lock", got)
	}
	if err := n.Unlock(t.Context(), passphrase); err != nil {
		t.Fatal(err)
	}
}

// An engine that hears live sound gets none from the moment at which the home is locked,
// even if the lock still has to wait for another call.
func TestLockStopsLiveSound(t *testing.T) {
	t.Parallel()
	s := speechtest.Wyoming(t)
	n := running(t, nil)
	addEngine(t, n, "ears", s.Address)
	s.Says(says("Lena is allergic to peanuts."), nil)
	tried := len(s.Calls())
	newSpeaker(t, n, 0).says(t, 6)
	eventually(t, "sound", func() bool { return len(s.Calls()) > tried && len(s.Calls()[tried].Sound) > 0 })
	o, release, err := n.use()
	if err != nil {
		t.Fatal(err)
	}
	locked := make(chan error, 1)
	go func() { locked <- n.Lock(context.Background()) }()
	eventually(t, "the end of the call", func() bool {
		o.engines.Hear("pin", false, make([]int16, sound.Rate/10)) // they keep speaking, so it does not end for lack of sound
		return s.Calls()[tried].Over
	})
	release()
	if err := waitFor(t, "the lock", locked); err != nil {
		t.Fatal(err)
	}
	if c := s.Calls()[tried]; c.Stopped {
		t.Error("the engine was told that the utterance is over")
	}
}
