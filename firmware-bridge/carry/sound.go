package carry

import (
	"fmt"
	"strings"
	"time"

	"github.com/locket-dev/locket/firmware-bridge/frame/omi"
	"github.com/locket-dev/locket/node/intake/wire"
)

const (
	piece = time.Second            // of sound in one message
	pause = 2 * time.Second        // without a frame: the recording is over
	drift = 200 * time.Millisecond // by which a frame may come later than its place in the message
	// told is how long losses are gathered before they are told.
	told    = time.Second
	maxTold = 12 // runs of them by name
)

// sound makes messages of frames. The latest message is held back until the
// next frame comes, so that the last one of a recording can say so.
type sound struct {
	codec omi.Codec
	data  []byte
	lasts time.Duration // of data
	at    time.Time     // when its first frame came
	heard time.Time     // when the last one did
	index uint64
}

// add takes a frame, and gives a message where one is full.
func (s *sound) add(frame []byte, at time.Time) (*wire.Audio, error) {
	var m *wire.Audio
	if len(s.data) > 0 && (s.lasts >= piece || at.Sub(s.at.Add(s.lasts)) > drift) {
		m = s.take(false)
	}
	data, err := appendFrame(s.codec, s.data, frame)
	if err != nil {
		return m, err
	}
	if len(s.data) == 0 {
		s.at = at
	}
	s.data, s.heard = data, at
	s.lasts += s.codec.Duration(frame)
	return m, nil
}

// appendFrame adds a frame to a message's data.
func appendFrame(c omi.Codec, data, frame []byte) ([]byte, error) {
	switch {
	case c.Name == "opus":
		return wire.AppendPacket(data, frame)
	case c.Name == "pcm16" && len(frame)%2 != 0:
		return data, fmt.Errorf("a PCM frame of %d bytes has half a sample", len(frame))
	}
	return append(data, frame...), nil
}

// idle reports whether a recording that has begun is over at a time.
func (s *sound) idle(now time.Time) bool { return len(s.data) > 0 && now.Sub(s.heard) > pause }

// take gives what has gathered; nil where that is nothing.
func (s *sound) take(last bool) *wire.Audio {
	if len(s.data) == 0 {
		return nil
	}
	m := &wire.Audio{
		Header: wire.Header{At: s.at},
		Codec:  s.codec.Name, Rate: s.codec.Rate, Data: s.data, Last: last, Index: s.index,
	}
	s.data, s.lasts = nil, 0
	s.index++
	if last {
		s.index = 0
	}
	return m
}

// losses are gathered, so that a bad link makes one gap event a second, not fifty.
type losses struct {
	since  time.Time
	count  int
	runs   []string
	more   int
	others []string
}

func (l *losses) gap(g omi.Gap, at time.Time) {
	l.begin(at)
	l.count += g.Count
	if len(l.runs) == maxTold {
		l.more++
		return
	}
	run := fmt.Sprint(g.First)
	if g.Count > 1 {
		run = fmt.Sprintf("%d-%d", g.First, g.Last())
	}
	l.runs = append(l.runs, run)
}

func (l *losses) other(text string, at time.Time) {
	l.begin(at)
	if len(l.others) < 4 {
		l.others = append(l.others, text)
	}
}

func (l *losses) begin(at time.Time) {
	if l.since.IsZero() {
		l.since = at
	}
}

// due reports whether there is something to tell by now.
func (l *losses) due(now time.Time) bool { return !l.since.IsZero() && now.Sub(l.since) >= told }

// take gives the words of a gap event, and forgets; empty: nothing was lost.
func (l *losses) take() (at time.Time, reason string) {
	var parts []string
	if l.count > 0 {
		s := fmt.Sprintf("%d audio notifications lost: %s", l.count, strings.Join(l.runs, " "))
		if l.more > 0 {
			s += fmt.Sprintf(" and %d more runs", l.more)
		}
		parts = append(parts, s)
	}
	at, reason = l.since, strings.Join(append(parts, l.others...), "; ")
	*l = losses{}
	return at, reason
}
