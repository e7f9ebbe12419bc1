package assist

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	frame "github.com/locket-dev/locket/firmware-bridge/frame/wyoming"
)

// Limits of an utterance that is passed to the engine.
const (
	maxSound  = 16 << 20 // bytes: eight minutes of 16 bits at 16 kHz
	maxHeard  = 1 << 20  // bytes of the engine's answer
	dialTime  = 5 * time.Second
	hearTime  = time.Minute // timeout of the engine's answer, once the sound has ended
	infoKept  = time.Minute // how long the engine's programs are cached, and the fact that it does not answer
	badEngine = "asr"       // code of an error event
)

// errHeard: the engine's answer is not one of Wyoming's.
var errHeard = errors.New("its answer does not follow the Wyoming protocol")

// ears connect a peer to the speech engine. Each utterance has its own connection to the engine:
// "transcribe" or "audio-start" opens it, and "audio-stop" ends it.
//
//	peer    transcribe  audio-start  audio-chunk …  audio-stop
//	engine                                                      transcript
//
// Each of these is passed on when it arrives. Nothing is stored, and the node is not told.
type ears struct {
	conn   net.Conn // nil: no utterance is under way
	stop   func() bool
	sent   int  // bytes of sound
	failed bool // the peer was told of a failure; the rest of the utterance is dropped
}

func (e *ears) end() {
	if e.conn != nil {
		e.stop()
		e.conn.Close()
	}
	*e = ears{failed: e.failed}
}

// ofSound reports whether an event belongs to an utterance for the engine.
func ofSound(kind string) bool {
	return kind == "transcribe" || kind == "audio-start" || kind == "audio-chunk" || kind == "audio-stop"
}

// pass passes an event to the engine, and after the last one the engine's answer to the peer. It
// returns only errors of the peer's connection.
func (s *server) pass(ctx context.Context, to net.Conn, e *ears, ev *frame.Event, asks func() bool) error {
	refuse := func(code, text string) error {
		e.failed = true
		e.end()
		return writeEvent(to, frame.Event{Type: "error", Data: map[string]any{"text": text, "code": code}})
	}
	broken := func(err error) error {
		if ctx.Err() == nil {
			s.OnMessage(fmt.Sprintf("the engine that hears: %v", err))
		}
		return refuse(badEngine, "the engine that hears does not answer")
	}
	if ev.Type == "audio-stop" {
		defer func() { e.failed = false }()
	}
	switch {
	case e.conn == nil && (ev.Type == "transcribe" || ev.Type == "audio-start" && !e.failed):
		e.failed = false
		if !asks() {
			return refuse("too-many", words("", tooMany))
		}
		conn, err := s.dialEars(ctx)
		if err != nil {
			return broken(err)
		}
		e.conn, e.stop = conn, context.AfterFunc(ctx, func() { conn.Close() })
	case e.conn == nil && e.failed:
		return nil
	case e.conn == nil:
		return refuse("bad-event", ev.Type+": no audio-start before it")
	}
	if e.sent += len(ev.Payload); e.sent > maxSound {
		return refuse("too-long", fmt.Sprintf("more than %d bytes of sound", maxSound))
	}
	if err := writeEvent(e.conn, *ev); err != nil {
		return broken(err)
	}
	if ev.Type != "audio-stop" {
		return nil
	}
	heard, err := readAnswer(e.conn)
	if err != nil {
		return broken(err)
	}
	e.end()
	for _, h := range heard {
		if err := writeEvent(to, h); err != nil {
			return err
		}
	}
	return nil
}

// readAnswer reads an engine's answer: an error, or a transcript, which a streaming engine also sends in
// pieces.
func readAnswer(from net.Conn) (out []frame.Event, err error) {
	if err := from.SetReadDeadline(time.Now().Add(hearTime)); err != nil {
		return nil, err
	}
	streams := false
	err = events(from, func(e *frame.Event) (bool, error) {
		_, worded := e.Data["text"].(string)
		switch e.Type {
		case "transcript-start":
			streams = true
		case "transcript-chunk", "transcript", "error":
			if !worded {
				return false, fmt.Errorf("%s without text: %w", e.Type, errHeard)
			}
		case "transcript-stop":
		default:
			return true, nil
		}
		out = append(out, frame.Event{Type: e.Type, Data: e.Data})
		return e.Type != "error" && e.Type != "transcript-stop" && (e.Type != "transcript" || streams), nil
	})
	if streams && err != nil && len(out) > 0 && out[len(out)-1].Type == "transcript" {
		return out, nil // the transcript is complete
	}
	return out, err
}

// events reads an engine's events until f wants no more.
func events(from net.Conn, f func(*frame.Event) (more bool, err error)) error {
	var in frame.Decoder
	b, sum := make([]byte, 16<<10), 0
	for {
		n, err := from.Read(b)
		if sum += n; sum > maxHeard {
			return fmt.Errorf("more than %d bytes: %w", maxHeard, errHeard)
		}
		list, bad := in.Push(b[:n])
		for i := range list {
			if more, err := f(&list[i]); err != nil || !more {
				return err
			}
		}
		if bad != nil {
			return bad
		}
		if err != nil {
			return err
		}
	}
}

func (s *server) dialEars(ctx context.Context) (net.Conn, error) {
	return (&net.Dialer{Timeout: dialTime}).DialContext(ctx, "tcp", s.Ears)
}

// programs returns the speech programs that the engine has named; empty: it has not answered yet,
// or failed to answer the last time. It is asked in the background, at most once a minute and once
// at a time, so that no peer waits for it.
func (s *server) programs(ctx context.Context) []any {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.Ears != "" && !s.asking && (s.askedAt.IsZero() || s.Now().Sub(s.askedAt) >= infoKept) {
		s.asking = true
		s.work.Go(func() {
			asr, err := s.askEars(ctx)
			if err != nil && ctx.Err() == nil {
				s.OnMessage(fmt.Sprintf("the engine that hears: %v", err))
			}
			s.mu.Lock()
			defer s.mu.Unlock()
			s.heard, s.askedAt, s.asking = asr, s.Now(), false
		})
	}
	return append([]any{}, s.heard...)
}

// askEars asks the engine for its programs; it returns at least one, or an error.
func (s *server) askEars(ctx context.Context) (asr []any, err error) {
	conn, err := s.dialEars(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	if err := conn.SetReadDeadline(time.Now().Add(dialTime)); err != nil {
		return nil, err
	}
	if err := writeEvent(conn, frame.Event{Type: "describe"}); err != nil {
		return nil, err
	}
	err = events(conn, func(e *frame.Event) (bool, error) {
		asr, _ = e.Data["asr"].([]any)
		return e.Type != "info", nil
	})
	if err == nil && len(asr) == 0 {
		err = errors.New("it lists no program for speech")
	}
	if err != nil {
		return nil, err
	}
	return asr, nil
}
